package server

import (
	"fmt"
	"log/slog"
	"runtime/debug"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"fiveways.dev/fiveways/internal/config"
)

// The limit of the garbage collector grows with the index of the keys, which is on the heap in
// addition to what memory_limit counts.
func TestHeapLimitFollowsKeys(t *testing.T) {
	cfg := config.Default()
	cfg.Data, cfg.AMQP, cfg.SQL, cfg.Redis, cfg.Etcd, cfg.HTTP, cfg.Metrics = t.TempDir(), config.Off, config.Off, config.Off, "127.0.0.1:0", config.Off, config.Off
	s, err := Start(cfg, "test", slog.New(slog.DiscardHandler))
	must(t, err)
	defer s.Drain(t.Context()) //nolint:errcheck // the test is over
	t.Setenv("GOMEMLIMIT", "")
	none := HeapLimit(cfg, s.Kept())
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{s.Addrs()["etcd"]}, DialTimeout: 10 * time.Second})
	must(t, err)
	defer c.Close()
	const keys = 100
	for i := range keys {
		if _, err := c.Put(t.Context(), fmt.Sprint("k", i), "v"); err != nil {
			t.Fatal(err)
		}
	}
	if more := HeapLimit(cfg, s.Kept()) - none; more < keys*200 || more > keys*1000 {
		t.Errorf("%d keys raise the limit by %d bytes", keys, more)
	}

	// If the operator limits the heap, the node reports that limit instead of the broker's.
	if a := s.about(); a.MemoryLimit != HeapLimit(cfg, s.Kept()) {
		t.Errorf("the limit told is %d", a.MemoryLimit)
	}
	const operators = 3 << 30
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(operators))
	t.Setenv("GOMEMLIMIT", "3GiB")
	if a := s.about(); a.MemoryLimit != operators {
		t.Errorf("with GOMEMLIMIT the limit told is %d", a.MemoryLimit)
	}
}
