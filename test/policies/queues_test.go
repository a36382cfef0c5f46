package policies

import (
	"fmt"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
)

// setting is a policy or an operator policy of a test.
type setting struct {
	kind       string // "" means policies
	definition string
	priority   int
	to         string // "" means queues
	pattern    string // "" means the queue's name
}

const operators = "operator-policies"

func (s setting) put(c *client, name, queue string) (drop func()) {
	c.t.Helper()
	if s.kind == "" {
		s.kind = "policies"
	}
	if s.to == "" {
		s.to = "queues"
	}
	if s.pattern == "" {
		s.pattern = `^(?!amq\.)` + queue + "$"
	}
	c.set(s.kind, name, fmt.Sprintf(`{"pattern":%q,"definition":%s,"priority":%d,"apply-to":%q}`, s.pattern, s.definition, s.priority, s.to))
	return func() { c.drop(s.kind, name) }
}

// TestPoliciesOfQueues publishes a, b, c and d to a queue with and without policies, and checks
// what is confirmed and what the queue then has.
func TestPoliciesOfQueues(t *testing.T) {
	const everything = "++++ abcd"
	c := start(t)
	for i, row := range []struct {
		name          string
		args          amqp.Table
		settings      []setting
		with, without string
	}{
		{"max-length", nil, []setting{{definition: `{"max-length":2}`}}, "++++ cd", everything},
		{"max-length-bytes", nil, []setting{{definition: `{"max-length-bytes":3}`}}, "++++ bcd", everything},
		{"overflow", nil, []setting{{definition: `{"max-length":2,"overflow":"reject-publish"}`}}, "++-- ab", everything},
		{"an operator's bound", nil, []setting{{definition: `{"max-length":3}`}, {kind: operators, definition: `{"max-length":1}`}}, "++++ d", everything},
		{"an operator's larger bound", nil, []setting{{definition: `{"max-length":1}`}, {kind: operators, definition: `{"max-length":3}`}}, "++++ d", everything},
		{"an operator's alone", nil, []setting{{kind: operators, definition: `{"max-length":3}`}}, "++++ bcd", everything},
		{"of both together", nil, []setting{{definition: `{"overflow":"reject-publish"}`}, {kind: operators, definition: `{"max-length":1}`}}, "+--- a", everything},
		{"the argument is smaller", amqp.Table{"x-max-length": 1}, []setting{{definition: `{"max-length":3}`}}, "++++ d", "++++ d"},
		{"the argument is larger", amqp.Table{"x-max-length": 3}, []setting{{definition: `{"max-length":2}`}}, "++++ cd", "++++ bcd"},
		{"the argument decides", amqp.Table{"x-max-length": 3, "x-overflow": "reject-publish"}, []setting{{definition: `{"max-length":2,"overflow":"drop-head"}`}}, "++-- ab", "+++- abc"},
		{"the higher priority", nil, []setting{{definition: `{"max-length":1}`, priority: 5}, {definition: `{"max-length":2,"overflow":"reject-publish"}`, priority: 1}}, "++++ d", everything},
		{"the higher priority, set later", nil, []setting{{definition: `{"max-length":2,"overflow":"reject-publish"}`, priority: 1}, {definition: `{"max-length":1}`, priority: 5}}, "++++ d", everything},
		{"a higher one for exchanges", nil, []setting{{definition: `{"max-length":1}`, priority: 9, to: "exchanges"}, {definition: `{"max-length":2}`}}, "++++ cd", everything},
		{"a higher one for streams", nil, []setting{{definition: `{"max-length":1,"max-age":"1D"}`, priority: 9}, {definition: `{"max-length":2}`}}, "++++ cd", everything},
		{"of another name", nil, []setting{{definition: `{"max-length":1}`, pattern: "^other"}}, everything, everything},
	} {
		t.Run(row.name, func(t *testing.T) {
			c.t = t
			queue := fmt.Sprintf("q%d", i)
			c.declare(queue, row.args)
			var drops []func()
			for j, s := range row.settings {
				drops = append(drops, s.put(c, fmt.Sprintf("p%d-%d", i, j), queue))
			}
			if got := c.publish("", queue, "abcd") + " " + c.take(queue); got != row.with {
				t.Errorf("with policies: %s, want %s", got, row.with)
			}
			for _, drop := range drops {
				drop()
			}
			if got := c.publish("", queue, "abcd") + " " + c.take(queue); got != row.without {
				t.Errorf("without them: %s, want %s", got, row.without)
			}
		})
	}
}

// TestPoliciesOfMessagesThere checks that a policy applies to messages already in the queue, and
// that the next policy applies when the first one is deleted.
func TestPoliciesOfMessagesThere(t *testing.T) {
	c := start(t)
	c.declare("q", nil)
	c.publish("", "q", "abcd")
	low := setting{definition: `{"max-length":3}`}.put(c, "low", "q")
	high := setting{definition: `{"max-length":1}`, priority: 1}.put(c, "high", "q")
	if got := c.take("q"); got != "d" {
		t.Errorf("of a, b, c and d %q is left, want d", got)
	}
	high()
	c.publish("", "q", "efgh")
	if got := c.take("q"); got != "fgh" {
		t.Errorf("under the other policy %q is left, want fgh", got)
	}
	low()
}
