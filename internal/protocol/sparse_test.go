package protocol

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestSparse: of a line that comes often few are written in a minute, and how many are not.
func TestSparse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		log := Sparse(slog.New(slog.NewTextHandler(&b, nil)))
		for range 1000 {
			log.With("a", 1).Warn("often", "peer", "x")
		}
		log.Warn("seldom")
		if n := strings.Count(b.String(), "often"); n != sparseLines || strings.Count(b.String(), "seldom") != 1 {
			t.Errorf("%d lines of what is often:\n%s", n, b.String())
		}
		time.Sleep(sparseTime)
		synctest.Wait()
		if !strings.Contains(b.String(), "level=WARN msg=often a=1 left_out=980\n") {
			t.Error(b.String())
		}
		b.Reset()
		log.Warn("often")
		time.Sleep(2 * sparseTime)
		synctest.Wait()
		if n := strings.Count(b.String(), "often"); n != 1 {
			t.Errorf("%d lines after the time:\n%s", n, b.String())
		}
	})
}
