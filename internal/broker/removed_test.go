package broker_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/broker/lists"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// Messages sent to a queue while it is removed are not lost, whatever their path, and each arrives
// once.
func TestPushWhileRemoved(t *testing.T) {
	const senders, each = 4, 300
	b := enginetest.Open(t, vfs.NewMem(), nil)
	defer enginetest.Close(t, b)
	q := enginetest.On("q")
	got := make(chan string, senders*each)
	ctx, cancel := context.WithCancel(context.Background())
	var wg, sending sync.WaitGroup
	for range 2 {
		w := enginetest.NewClient(t, b)
		wg.Go(func() {
			for ctx.Err() == nil {
				p := &lists.Pop{OnQueue: q, Max: 3, Create: true}
				if err := w.Do(p); err != nil || p.Err != nil {
					t.Error(err, p.Err)
					return
				}
				for _, body := range p.Bodies {
					got <- string(body)
				}
				_ = b.RemoveIdle()
			}
		})
	}
	for i := range senders {
		s := enginetest.NewClient(t, b)
		sending.Go(func() {
			for n := range each {
				body := fmt.Sprint(i, " ", n)
				p := &lists.Push{OnQueue: q, Bodies: [][]byte{[]byte(body)}, Create: true}
				var err error
				switch i {
				case 0:
					err = s.Do(p)
				case 1:
					err = s.DoAll(p, &broker.Count{OnQueue: q})
				case 2:
					err = s.Do(&lists.Push{OnQueue: enginetest.On("from"), Bodies: p.Bodies, Create: true})
					at := -1
					if err == nil {
						at, err = s.Await(ctx, &lists.Move{OnQueue: enginetest.On("from"), To: "q", Create: true, CreateTo: true})
					}
					if at != 0 && err == nil {
						err = errors.New("nothing was moved")
					}
				case 3: // as other protocols do, which learn that the queue does not exist
					for !s.HasQueue("q") || !postIf(s, "q", body) {
						if err := s.Do(&broker.Count{OnQueue: q}); err != nil {
							t.Error(err)
							return
						}
					}
				}
				if err != nil || p.Err != nil {
					t.Error(err, p.Err)
					return
				}
			}
		})
	}
	seen := map[string]bool{}
	made := func() uint64 { return b.Stats().QueuesCreated }
	c := enginetest.NewClient(t, b)
	for more := 0; (len(seen) < senders*each+more || made() < 20) && !t.Failed(); {
		if len(seen) == senders*each+more { // too few queues were removed meanwhile
			c.MustDo(&lists.Push{OnQueue: q, Bodies: [][]byte{fmt.Append(nil, "more ", more)}, Create: true})
			more++
		}
		body := <-got
		if seen[body] {
			t.Fatalf("%q came twice", body)
		}
		seen[body] = true
	}
	cancel()
	sending.Wait()
	wg.Wait()
}

// confirm receives the confirm of one message.
type confirm chan bool

func (c confirm) Confirmed(_, _ uint64, ok bool) { c <- ok }

// postIf publishes to a queue and waits for the confirm. It returns false if the queue does not
// exist.
func postIf(c *enginetest.Client, q, body string) (routed bool) {
	done := make(confirm, 1)
	props := message.Properties{Flags: message.HasDeliveryMode, DeliveryMode: 2}
	c.Post("", q, body, props, func(p *shard.Publish) { p.Confirm, routed = done, !p.Targets.Empty() })
	c.Flush()
	if !<-done {
		c.T.Error("a message was refused")
	}
	return routed
}
