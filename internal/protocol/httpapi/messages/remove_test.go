package messages

import (
	"fmt"
	"testing"

	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol/httpapi/resttest"
)

// Ready messages that match are deleted, also when they need several transactions. Others, and
// those that a client holds, stay.
func TestRemoveAll(t *testing.T) {
	n := start(t)
	n.queue("q")
	for i := range 2*batchMessages + 10 {
		n.put("q", fmt.Sprint(i), "x", message.Field{Name: "tenant", Value: fmt.Sprint("t", i%2)})
	}
	d, _, ok, err := n.s.Get("q", false)
	must(t, err)
	if !ok {
		t.Fatal("nothing was put")
	}
	const q, t0 = "/api/queues/%2F/q/messages", "?filter=tenant+%3D+%27t0%27"
	n.play([]resttest.Step{
		{"DELETE " + q, 400, "filter is missing"},
		{"DELETE " + q + "?filter=(", 400, "filter: "},
		{"DELETE /api/queues/%2F/none/messages" + t0, 404, ""},
		{"DELETE " + q + t0, 200, fmt.Sprintf(`{"messages":%d}`, batchMessages+4)},
		{"DELETE " + q + t0, 200, `{"messages":0}`},
		{"DELETE " + q + "?filter=tenant+is+not+null", 200, fmt.Sprintf(`{"messages":%d}`, batchMessages+5)},
	})
	n.s.Release(d.Queue, d.Handle, 1)
	n.s.FlushInline()
	n.play([]resttest.Step{{"DELETE " + q + t0, 200, `{"messages":1}`}})
}
