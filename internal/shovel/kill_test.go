package shovel

import (
	"fmt"
	"testing"
	"time"

	"fiveways.dev/fiveways/test/brokertest"
	"fiveways.dev/fiveways/test/daemon"
)

// node is a broker on a folder and an address of its own that is killed and restarted.
type node struct {
	t    *testing.T
	dir  string
	addr string
	b    *brokertest.Broker
}

func newNode(t *testing.T) *node {
	t.Helper()
	n := &node{t: t, dir: t.TempDir(), addr: daemon.FreeAddress(t)}
	n.start()
	t.Cleanup(func() { n.b.Kill() })
	return n
}

func (n *node) start() {
	n.t.Helper()
	b, err := brokertest.Start(n.t.Context(), n.dir, "--amqp", n.addr)
	if err != nil {
		n.t.Fatal(err)
	}
	n.b = b
}

// Both brokers are killed repeatedly while messages are moved. None is lost, and only messages in
// flight at a kill arrive twice.
func TestKillsOfBothSides(t *testing.T) {
	const messages, prefetch, kills = 6000, 100, 6
	from, to := newNode(t), newNode(t)
	fill(t, from.b.URL(), "a", messages)
	fromURL, toURL := from.b.URL(), to.b.URL()

	next, done := uint64(messages/(kills+1)), make(chan struct{})
	step := make(chan int, kills)
	go func() { // concurrently with the shovel, which sees its connections break
		defer close(done)
		for i := range step {
			victim := []*node{from, to}[i%2]
			victim.b.Kill()
			victim.start()
		}
	}()
	killed := 0
	p, err := Run(within(t), Options{
		Source: Source{URI: fromURL, Queue: "a"}, Target: Target{URI: toURL, Queue: "b"}, Once: true, Prefetch: prefetch, Pause: 10 * time.Millisecond, MaxPause: 100 * time.Millisecond,
		Progress: func(p Progress) {
			if p.Moved >= next && killed < kills {
				step <- killed
				killed++
				next += messages / (kills + 1)
			}
		},
	})
	close(step)
	<-done
	if err != nil {
		t.Fatalf("%+v, %v", p, err)
	}
	got, order := bodies(t, to.b.URL(), "b")
	for i := range messages {
		if got[fmt.Sprint(i)] == 0 {
			t.Fatalf("message %d is lost; %d of %d arrived", i, len(got), messages)
		}
	}
	if left, _ := bodies(t, from.b.URL(), "a"); len(left) != 0 {
		t.Errorf("%d messages are still at the source", len(left))
	}
	// A killed source also loses the last acknowledgements, because they have no reply.
	if p.Breaks == 0 || killed != kills {
		t.Errorf("%d kills, %d breaks: the test did not do what it should", killed, p.Breaks)
	}
	t.Logf("%d breaks, %d moved twice", p.Breaks, len(order)-messages)
}
