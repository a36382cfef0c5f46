package protocol

import (
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/logtest"
)

// TestSparse checks that a frequent line is written once a minute for each source and only a few
// times in total, with the number suppressed.
func TestSparse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b logtest.Text
		log := Sparse(slog.New(slog.NewTextHandler(&b, nil)))
		for i := range 1000 {
			log.With("a", 1).Warn("often", "peer", &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: i}, "user", "ann")
		}
		for i := range 30 {
			log.Warn("often", "peer", fmt.Sprintf("10.0.1.%d:5", i))
		}
		log.Warn("seldom")
		if n := strings.Count(b.String(), "often"); n != sparseLines || strings.Count(b.String(), "user=ann") != 1 || strings.Count(b.String(), "seldom") != 1 {
			t.Errorf("%d lines of what is often:\n%s", n, b.String())
		}
		time.Sleep(sparseTime)
		synctest.Wait()
		for _, want := range []string{"level=WARN msg=often a=1 peer=10.0.0.1 user=ann left_out=999\n", "level=WARN msg=often a=1 left_out=11\n"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("no %q in\n%s", want, b.String())
			}
		}
		b.Take()
		log.Warn("often")
		time.Sleep(2 * sparseTime)
		synctest.Wait()
		if n := strings.Count(b.String(), "often"); n != 1 {
			t.Errorf("%d lines after the time:\n%s", n, b.String())
		}
	})
}
