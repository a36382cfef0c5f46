package broker

import (
	"testing"
	"testing/synctest"
)

// A second deletion that finds nothing is answered when the first is durable: it promises that the
// thing is gone.
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
