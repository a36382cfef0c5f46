package mbus

import (
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/routing"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// declarePlain creates a queue and an exchange as AMQP would, both called plain.
func declarePlain(t *testing.T, own *broker.Session) {
	t.Helper()
	if err := own.DeclareExchange(catalog.ExchangeSpec{Name: "plain", Type: routing.TypeFanout, Durable: true}); err != nil {
		t.Fatal(err)
	}
	spec := catalog.QueueSpec{Name: "plain", Durable: true, Args: queueArgs(), Policy: queuePolicy()}
	if _, err := own.DeclareQueue(spec); err != nil {
		t.Fatal(err)
	}
}

// runNothing is a Run function that does nothing.
func runNothing(*expr.Env, string, []*value.Type, []value.Datum, func([]value.Datum) error) error {
	return nil
}
