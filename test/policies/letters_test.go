package policies

import "testing"

// TestDeadLettersByPolicy checks that expired and rejected messages go where the policy says.
func TestDeadLettersByPolicy(t *testing.T) {
	c := start(t)
	c.declare("q", nil)
	c.declare("dead", nil)
	for _, row := range []struct{ name, definition, want string }{
		{"expired", `{"message-ttl":1,"dead-letter-exchange":"","dead-letter-routing-key":"dead"}`, "x expired"},
		{"no room", `{"max-length":0,"dead-letter-exchange":"","dead-letter-routing-key":"dead"}`, "x maxlen"},
	} {
		drop := setting{definition: row.definition}.put(c, "p", "q")
		c.publish("", "q", "x")
		if got := c.arrives("dead"); got != row.want {
			t.Errorf("%s: %q is dead, want %q", row.name, got, row.want)
		}
		drop()
	}

	drop := setting{definition: `{"dead-letter-exchange":"","dead-letter-routing-key":"dead"}`}.put(c, "p", "q")
	c.publish("", "q", "y")
	c.reject("q")
	if got := c.arrives("dead"); got != "y rejected" {
		t.Errorf("%q is dead, want y rejected", got)
	}
	drop()
	c.publish("", "q", "z")
	c.reject("q")
	c.publish("", "dead", "after") // a dead letter would come before these
	if got := c.take("dead"); got != "after" {
		t.Errorf("without a policy %q is dead", got)
	}
}

// reject rejects the first message of a queue.
func (c *client) reject(queue string) {
	c.t.Helper()
	d, ok, err := c.ch.Get(queue, false)
	if err == nil && ok {
		err = d.Reject(false)
	}
	if err != nil || !ok {
		c.t.Fatalf("nothing is refused: %v", err)
	}
}

// TestAlternateExchangeByPolicy checks that unroutable messages go to the alternate exchange of the
// exchange's policy.
func TestAlternateExchangeByPolicy(t *testing.T) {
	c := start(t)
	c.declare("others", nil)
	for _, exchange := range []string{"in", "rest"} {
		if err := c.ch.ExchangeDeclare(exchange, "fanout", true, false, false, false, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.ch.QueueBind("others", "", "rest", false, nil); err != nil {
		t.Fatal(err)
	}
	c.publish("in", "k", "a")
	drop := setting{definition: `{"alternate-exchange":"rest"}`, to: "exchanges"}.put(c, "p", "in")
	c.publish("in", "k", "b")
	drop()
	c.publish("in", "k", "c")
	if got := c.take("others"); got != "b" {
		t.Errorf("the alternate exchange got %q, want b", got)
	}
}
