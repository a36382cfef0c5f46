package amqp

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/rabbitmq/amqp091-go"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/routing"
)

// endsWith is a condition for tests: the body must end with it.
type endsWith string

func (c endsWith) Match(m *routing.Message) bool { return bytes.HasSuffix(m.Body, []byte(c)) }

// TestConditionsSeeTheBody checks that SQL conditions of bindings see the whole body, however it is
// split into frames and reads.
func TestConditionsSeeTheBody(t *testing.T) {
	n := startNode(t, Options{}, broker.Options{Conditions: routing.Conditions{
		"x-sql-selector": func(text string) (routing.Condition, error) {
			if text == "" {
				return nil, errors.New("syntax error at end of input")
			}
			return endsWith(text), nil
		},
	}})
	c := n.mustConnect("guest", "/")
	ch, err := c.Channel()
	must(t, err)
	_, err = ch.QueueDeclare("q", true, false, false, false, nil)
	must(t, err)
	must(t, ch.QueueBind("q", "", "amq.fanout", false, amqp091.Table{"x-sql-selector": "yes"}))
	must(t, ch.Confirm(false))
	for i, size := range []int{0, 100, 70_000, 300_000} {
		for _, end := range []string{"no", "yes"} {
			body := []byte(strings.Repeat("x", size) + end)
			confirm, err := ch.PublishWithDeferredConfirm("amq.fanout", "", false, false, amqp091.Publishing{Body: body})
			must(t, err)
			ok, err := confirm.WaitContext(context.Background())
			if err != nil || !ok {
				t.Fatal(ok, err)
			}
			got, found, err := ch.Get("q", true)
			must(t, err)
			if found != (end == "yes") || found && !bytes.Equal(got.Body, body) {
				t.Errorf("body %d, %s: found %v", i, end, found)
			}
		}
	}
	err = ch.QueueBind("q", "", "amq.fanout", false, amqp091.Table{"x-sql-selector": ""})
	var refused *amqp091.Error
	if !errors.As(err, &refused) || refused.Code != amqp091.PreconditionFailed ||
		refused.Reason != "PRECONDITION_FAILED - invalid arg 'x-sql-selector' for binding: syntax error at end of input" {
		t.Errorf("bind: %v", err)
	}
	must(t, c.Close())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
