package matrix

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"
)

// TestAlarm checks that no protocol adds messages while an alarm is on: it refuses them, or the
// sender waits.
func TestAlarm(t *testing.T) {
	n := start(t, "--disk-free-limit", "1000TiB")
	t.Cleanup(n.b.Kill) // first: the close of a blocked AMQP connection would wait
	n.awaitAlarm()
	for _, p := range protocols {
		err := n.ends[p.name].declare(t.Context(), p.name, 1)
		if errors.Is(err, errors.ErrUnsupported) {
			err = n.ends["amqp"].declare(t.Context(), p.name, 1)
		}
		must(t, err)
	}
	for _, p := range protocols {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		if err := n.ends[p.name].send(ctx, p.name, message{body: []byte("x")}); err == nil {
			t.Errorf("a message over %s was accepted", p.name)
		}
		cancel()
	}
}

// awaitAlarm returns when the broker has an alarm.
func (n *node) awaitAlarm() {
	n.t.Helper()
	for {
		resp, err := http.Get("http://guest:guest@" + n.b.HTTPAddr() + "/api/health/checks/alarms")
		must(n.t, err)
		resp.Body.Close()
		if resp.StatusCode == http.StatusServiceUnavailable {
			return
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-n.t.Context().Done():
			n.t.Fatal("no alarm")
		}
	}
}
