package broker

import (
	"errors"
	"testing"
	"testing/synctest"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
)

// A second deletion that finds nothing is answered once the first is durable, because the answer
// promises that the object is gone.
func TestDeletionsOfWhatIsBeingDeleted(t *testing.T) {
	for _, k := range []struct {
		name string
		do   func(c *client) error
	}{
		{"queue", func(c *client) error { _, err := c.DeleteQueue("q", false, false); return err }},
		{"exchange", func(c *client) error { return c.DeleteExchange("x", false) }},
		{"binding", func(c *client) error { return c.Unbind(BindSpec{Source: "x", Destination: "q"}) }},
	} {
		t.Run(k.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, c, log := faulty(t, 2)
				defer b.Close() //nolint:errcheck
				c.queue("q", nil)
				must(t, c.DeclareExchange(ExchangeSpec{Name: "x", Type: "fanout", Durable: true}))
				must(t, c.Bind(BindSpec{Source: "x", Destination: "q"}))
				other := newClient(t, b)
				log.Hold()
				first, second := make(chan error, 1), make(chan error, 1)
				go func() { first <- k.do(c) }()
				synctest.Wait()
				go func() { second <- k.do(other) }()
				synctest.Wait()
				select {
				case <-first:
					t.Error("the first is answered before it is durable")
					first <- nil
				default:
				}
				select {
				case err := <-second:
					t.Errorf("the second is answered (%v) before the first is durable", err)
					second <- nil
				default:
				}
				log.Release()
				<-first
				<-second
			})
		})
	}
}

// An answer that a queue does not exist is sent once its deletion is durable, and so is the confirm
// of a message that was lost with it.
func TestAnswersAboutWhatIsBeingDeleted(t *testing.T) {
	post := func(exchange string) func(c *client) error {
		return func(c *client) error {
			seq := c.post(exchange, "q", "m", nil)
			c.Flush()
			return c.confirmed(seq)
		}
	}
	count := &Count{OnQueue: OnQueue{Queue: "q"}}
	for name, ask := range map[string]func(c *client) error{
		"a command":                 func(c *client) error { return c.Do(count) },
		"a command among others":    func(c *client) error { return c.Do(&Count{OnQueue: OnQueue{Queue: "other"}}, count) },
		"commands at one moment":    func(c *client) error { return c.DoAll(count) },
		"a get":                     func(c *client) error { _, _, _, err := c.Get("q", true); return err },
		"a consumer":                func(c *client) error { _, err := c.Consume(shard.ConsumerSpec{Queue: "q", Tag: "t"}); return err },
		"a purge":                   func(c *client) error { _, err := c.PurgeQueue("q"); return err },
		"a passive declaration":     func(c *client) error { _, err := c.DeclareQueue(QueueSpec{Name: "q", Passive: true}); return err },
		"a persistent message":      post(""),
		"one by way of an exchange": post("x"),
		"a transaction of it": func(c *client) error {
			tx := c.NewTx()
			targets, err := c.Route(nil, []byte("q"), &message.Peek{}, nil)
			if err == nil && !targets.Empty() {
				err = errors.New("the message has a queue")
			}
			return errors.Join(err, tx.Commit())
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, c, log := faulty(t, 2)
				defer b.Close() //nolint:errcheck
				c.queue("q", nil)
				c.queue("other", nil)
				must(t, c.DeclareExchange(ExchangeSpec{Name: "x", Type: "fanout", Durable: true}))
				must(t, c.Bind(BindSpec{Source: "x", Destination: "q"}))
				other := newClient(t, b)
				log.Hold()
				deleted, answered := make(chan error, 1), make(chan error, 1)
				go func() { _, err := c.DeleteQueue("q", false, false); deleted <- err }()
				synctest.Wait()
				go func() { answered <- ask(other) }()
				synctest.Wait()
				select {
				case err := <-answered:
					t.Errorf("it is answered (%v) before the deletion is durable", err)
					answered <- nil
				default:
				}
				log.Release()
				must(t, <-deleted)
				<-answered
			})
		})
	}
}

// A message that reaches a queue while it is being dropped, before the deletion is in the log, is
// confirmed once the deletion is durable.
func TestPublishIntoADroppedQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, c, log := faulty(t, 1)
		defer b.Close() //nolint:errcheck
		c.queue("q", nil)
		q, err := c.usableQueue("q")
		must(t, err)
		deleter := newClient(t, b)
		log.Hold()
		seq := c.post("", "q", "m", nil)          // routed, but not yet handed over
		go deleter.DeleteQueue("q", false, false) //nolint:errcheck // the log is slow
		synctest.Wait()
		c.Flush()
		synctest.Wait()
		c.mu.Lock()
		if c.acks[seq] > 0 {
			t.Error("it is confirmed before the deletion is durable")
		}
		c.mu.Unlock()
		log.Release()
		must(t, c.confirmed(seq))
		if !q.In.Gone() && c.HasQueue("q") {
			t.Error("the queue is there")
		}
	})
}

// confirmed returns once a publish is answered.
func (c *client) confirmed(seq uint64) error {
	c.until(func() bool { return c.acks[seq]+c.nacks[seq] > 0 })
	return nil
}
