package routing

import (
	"errors"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/core/message"
)

// bodies is a condition language for tests: the message body must begin with the text.
type bodies struct {
	text  string
	tried *int
}

func (c bodies) Match(m *Message) bool {
	*c.tried++
	if m.Memo == nil {
		m.Memo = string(m.Body)
	}
	return strings.HasPrefix(m.Memo.(string), c.text)
}

func testConditions() (c Conditions, compiled, tried *int) {
	compiled, tried = new(int), new(int)
	return Conditions{
		"x-sql-selector": func(text string) (Condition, error) {
			if text == "bad" {
				return nil, errors.New("it is bad")
			}
			*compiled++
			return bodies{text, tried}, nil
		},
		"x-sql-trigger": func(text string) (Condition, error) {
			if text != "true" {
				return nil, errors.New("only true")
			}
			return unlessRedeployed{}, nil
		},
	}, compiled, tried
}

type unlessRedeployed struct{}

func (unlessRedeployed) Match(m *Message) bool { return string(m.Props) != "redeploy" }

func sql(text string, more ...message.Field) message.Table {
	return append(message.Table{{Name: "x-sql-selector", Value: text}}, more...)
}

// TestConditions checks that a condition in another language is evaluated once for all bindings of
// an exchange that have it, and sees the body.
func TestConditions(t *testing.T) {
	conditions, compiled, tried := testConditions()
	table := NewWith(conditions)
	table = declare(t, table, ExchangeSpec{Name: "x", Type: TypeFanout})
	for q := QueueID(1); q <= 3; q++ {
		table = bind(t, table, Binding{Source: "x", ToQueue: q, Args: sql("a")})
	}
	table = bind(t, table, Binding{Source: "x", ToQueue: 4, Args: sql("ab")})
	table = bind(t, table, Binding{Source: "x", ToQueue: 5})
	table = bind(t, table, Binding{Source: "x", ToQueue: 6, Args: sql("a", message.Field{Name: "x-selector", Value: "routing_key = 'k'"})})
	if *compiled != 3 { // once, together with the other condition
		t.Errorf("%d were compiled", *compiled)
	}
	requireRoute(t, table, "x", Message{Body: []byte("abc")}, 1, 2, 3, 4, 5)
	if *tried != 2 { // the selector had already refused
		t.Errorf("%d tries", *tried)
	}
	requireRoute(t, table, "x", Message{Body: []byte("a"), Key: []byte("k"), Props: []byte{0, 0}}, 1, 2, 3, 5, 6)
	requireRoute(t, table, "x", Message{Body: []byte("b")}, 5)
	table = unbind(t, table, Binding{Source: "x", ToQueue: 2, Args: sql("a")})
	requireRoute(t, table, "x", Message{Body: []byte("a")}, 1, 3, 5)
	checkInvariants(t, table)
}

// TestConditionsBetweenExchanges checks conditions of bindings between exchanges, and on the way to
// an exchange that is reached twice.
func TestConditionsBetweenExchanges(t *testing.T) {
	conditions, _, _ := testConditions()
	table := NewWith(conditions)
	for _, name := range []string{"x", "y"} {
		table = declare(t, table, ExchangeSpec{Name: name, Type: TypeFanout})
	}
	trigger := message.Field{Name: "x-sql-trigger", Value: true}
	table = bind(t, table, Binding{Source: "x", ToExchange: "y", Args: sql("a", trigger)})
	table = bind(t, table, Binding{Source: "y", ToQueue: 1})
	table = bind(t, table, Binding{Source: "x", ToQueue: 2, Args: message.Table{trigger}})
	requireRoute(t, table, "x", Message{Body: []byte("a")}, 1, 2)
	requireRoute(t, table, "x", Message{Body: []byte("b")}, 2)
	requireRoute(t, table, "x", Message{Body: []byte("a"), Props: []byte("redeploy")})
	checkInvariants(t, table)
}

// TestBrokenConditions checks that an invalid condition is refused, and that one that was accepted
// earlier is kept, matches nothing, and can be unbound.
func TestBrokenConditions(t *testing.T) {
	conditions, _, _ := testConditions()
	for _, c := range []struct {
		table *Table
		args  message.Table
		want  string
	}{
		{NewWith(conditions), sql("bad"), "invalid arg 'x-sql-selector' for binding: it is bad"},
		{NewWith(conditions), message.Table{{Name: "x-sql-selector", Value: int32(1)}}, "invalid arg 'x-sql-selector' for binding: expected longstr, got signedint"},
		{NewWith(conditions), sql("a", message.Field{Name: "x-sql-trigger", Value: false}), "invalid arg 'x-sql-trigger' for binding: only true"},
		{NewWith(conditions), message.Table{{Name: "x-selector", Value: true}}, "invalid arg 'x-selector' for binding: expected longstr, got bool"},
		{New(), sql("a"), "invalid arg 'x-sql-selector' for binding: unknown selector language"},
		{New(), message.Table{{Name: "x-sql-trigger", Value: true}}, "invalid arg 'x-sql-trigger' for binding: unknown selector language"},
	} {
		table := declare(t, c.table, ExchangeSpec{Name: "x", Type: TypeHeaders})
		b := Binding{Source: "x", ToQueue: 1, Args: append(c.args, message.Field{Name: "x-match", Value: "all-with-x"})}
		_, added, err := table.Bind(b)
		var e *Error
		if added || !errors.Is(err, ErrInvalidBinding) || !errors.As(err, &e) || e.Text != c.want {
			t.Errorf("%v: %v", c.args, err)
		}
		table, added, err = table.Rebind(b)
		if !added || err != nil {
			t.Fatalf("%v: rebind: %v", c.args, err)
		}
		for have := range table.Bindings() {
			if have.Broken() == nil {
				t.Errorf("%v: not broken", c.args)
			}
		}
		requireRoute(t, table, "x", Message{Body: []byte("a")})
		table = bind(t, table, Binding{Source: "x", ToQueue: 2})
		requireRoute(t, table, "x", Message{Body: []byte("a")}, 2)
		checkInvariants(t, unbind(t, table, b))
	}
}
