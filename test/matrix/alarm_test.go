package matrix

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"
)

// TestAlarm checks that no protocol adds messages while an alarm is on, which it does otherwise: it
// refuses them, or the sender waits.
func TestAlarm(t *testing.T) {
	start(t).sendByAll(true)
	n := start(t, "--disk-free-limit", "1000TiB")
	t.Cleanup(n.b.Kill) // first: the close of a blocked AMQP connection would wait
	n.awaitAlarm()
	n.sendByAll(false)
}

// sendByAll sends a message over each protocol and checks whether it is accepted.
func (n *node) sendByAll(accepted bool) {
	t := n.t
	t.Helper()
	for _, p := range protocols {
		err := n.ends[p.name].declare(t.Context(), p.name, 1)
		if errors.Is(err, errors.ErrUnsupported) {
			err = n.ends["amqp"].declare(t.Context(), p.name, 1)
		}
		must(t, err)
	}
	for _, p := range protocols {
		most := time.Second // that a message waits which is not accepted
		if accepted {
			most = patience
		}
		ctx, cancel := context.WithTimeout(t.Context(), most)
		if err := n.ends[p.name].send(ctx, p.name, message{body: []byte("x")}); (err == nil) != accepted {
			t.Errorf("a message over %s: %v, accepted should be %v", p.name, err, accepted)
		}
		cancel()
	}
}

// awaitAlarm returns when the broker has an alarm.
func (n *node) awaitAlarm() {
	n.t.Helper()
	for end := time.After(patience); ; {
		resp, err := http.Get("http://guest:guest@" + n.b.HTTPAddr() + "/api/health/checks/alarms")
		must(n.t, err)
		resp.Body.Close()
		if resp.StatusCode == http.StatusServiceUnavailable {
			return
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-end:
			n.t.Fatal("no alarm")
		}
	}
}
