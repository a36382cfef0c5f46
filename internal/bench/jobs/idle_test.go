package jobs

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/resp"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// serveBroker starts a broker in this process and returns its address.
func serveBroker(t *testing.T) string {
	t.Helper()
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	b := enginetest.Open(t, vfs.NewMem(), nil)
	server := resp.New(b, resp.Options{Shared: protocol.Shared{Log: log}})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go server.Serve(ln) //nolint:errcheck // Drain ends it
	t.Cleanup(func() {
		if err := server.Drain(context.Background()); err != nil {
			t.Error(err)
		}
		enginetest.Close(t, b)
	})
	return ln.Addr().String()
}

// TestIdle checks that every job reaches a taker, whatever its queue, and that nothing is left.
func TestIdle(t *testing.T) {
	o := DefaultIdleOptions()
	o.URL = "redis://" + serveBroker(t)
	o.Queues, o.Takers, o.Wakes, o.Quiet, o.Pause = 50, 7, 100, time.Millisecond, 0
	r, err := Idle(t.Context(), o)
	if err != nil || r.P50 <= 0 || r.P99 < r.P50 || r.Max < r.P99 || r.Confirm <= 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	c, err := connect(o.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	if left, err := c.ask("EXISTS", idleQueue(0)); err != nil || left != "0" {
		t.Errorf("left %q, %v", left, err)
	}
	var text strings.Builder
	if err := r.WriteText(&text); err != nil || !strings.Contains(text.String(), "50 queues, 7 takers") {
		t.Errorf("%v, %s", err, text.String())
	}
	o.Takers = 51
	if _, err := Idle(t.Context(), o); !errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
}
