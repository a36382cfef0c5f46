package policies

import (
	"strings"
	"testing"

	"fiveways.dev/fiveways/test/brokertest"
)

// TestPoliciesAfterTheEnd checks that changes that were answered survive the end of the broker,
// whether it was stopped or killed.
func TestPoliciesAfterTheEnd(t *testing.T) {
	if *onRabbitMQ {
		t.Skip("the broker under test is ended")
	}
	for name, end := range map[string]func(*brokertest.Broker) error{
		"stopped": (*brokertest.Broker).Stop,
		"killed":  func(b *brokertest.Broker) error { b.Kill(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			var b *brokertest.Broker
			again := func() *client {
				t.Helper()
				if b != nil {
					if err := end(b); err != nil {
						t.Fatal(err)
					}
				}
				var err error
				if b, err = brokertest.Start(t.Context(), dir, "--http", "127.0.0.1:0"); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(b.Kill)
				return connect(t, b.HTTPAddr(), b.Addr())
			}

			c := again()
			c.declare("q", nil)
			dropPolicy := setting{definition: `{"max-length":3,"overflow":"reject-publish"}`}.put(c, "p", "q")
			setting{kind: operators, definition: `{"max-length":2}`}.put(c, "o", "q")
			dropPolicy()
			setting{definition: `{"overflow":"reject-publish"}`, priority: 2}.put(c, "p2", "q")

			c = again()
			if got := c.publish("", "q", "abcd"); got != "++--" {
				t.Errorf("with its policies the queue takes %s, want ++--", got)
			}
			for _, want := range []string{`"policy":"p2"`, `"operator_policy":"o"`, `"max-length":2`} {
				if shown := c.request("GET", "queues/%2F/q", ""); !strings.Contains(shown, want) {
					t.Errorf("no %s in %s", want, shown)
				}
			}
			c.drop("policies", "p2")
			c.drop(operators, "o")

			c = again()
			if got := c.publish("", "q", "efgh") + " " + c.take("q"); got != "++++ abefgh" {
				t.Errorf("without policies: %s, want ++++ abefgh", got)
			}
		})
	}
}
