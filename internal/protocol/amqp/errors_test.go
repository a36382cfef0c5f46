package amqp

import (
	"errors"
	"fmt"
	"testing"

	"fiveways.dev/fiveways/internal/amqperr/amqperrtest"
	"fiveways.dev/fiveways/internal/core/failure"
)

// TestEverySentinelHasARow exists because an exported sentinel without a row would reach clients as
// an internal error.
func TestEverySentinelHasARow(t *testing.T) {
	names := amqperrtest.Sentinels(t, "../../semaphores/api.go", 5)
	for _, row := range faults {
		delete(names, row.err.Error())
	}
	for _, name := range names {
		t.Errorf("%s has no row in faults", name)
	}
}

func TestFaultTexts(t *testing.T) {
	e := func(err error, kind string) *failure.Error {
		return &failure.Error{Err: err, Kind: kind, Name: "q", VHost: "/", User: "u"}
	}
	inequivalent := func(kind, arg string, received, current any) error {
		return &failure.Error{Err: failure.ErrInequivalent, Kind: kind, Name: "q", VHost: "/", Arg: arg, Received: received, Current: current}
	}
	for _, c := range []struct {
		err  error
		code uint16
		want string
	}{
		{e(failure.ErrQueueNotFound, "queue"), 404, "NOT_FOUND - no queue 'q' in vhost '/'"},
		{e(failure.ErrExchangeNotFound, "exchange"), 404, "NOT_FOUND - no exchange 'q' in vhost '/'"},
		{e(failure.ErrVHostNotFound, "vhost"), 530, "NOT_ALLOWED - vhost / not found"},
		{inequivalent("queue", "durable", false, true), 406,
			"PRECONDITION_FAILED - inequivalent arg 'durable' for queue 'q' in vhost '/': received 'false' but current is 'true'"},
		{inequivalent("queue", "x-max-length", int32(5000), nil), 406,
			"PRECONDITION_FAILED - inequivalent arg 'x-max-length' for queue 'q' in vhost '/': received the value '5000' of type 'signedint' but current is none"},
		{inequivalent("queue", "x-max-length", int32(6), int64(5)), 406,
			"PRECONDITION_FAILED - inequivalent arg 'x-max-length' for queue 'q' in vhost '/': received '6' but current is '5'"},
		{inequivalent("exchange", "type", "'fanout'", "'direct'"), 406,
			"PRECONDITION_FAILED - inequivalent arg 'type' for exchange 'q' in vhost '/': received 'fanout' but current is 'direct'"},
		{e(failure.ErrExclusive, "queue"), 405, "RESOURCE_LOCKED - cannot obtain exclusive access to locked queue 'q' in vhost '/'. It could be " +
			"originally declared on another connection or the exclusive property value does not match that of the original declaration."},
		{e(failure.ErrInUse, "exchange"), 406, "PRECONDITION_FAILED - exchange 'q' in vhost '/' in use"},
		{e(failure.ErrNotEmpty, "queue"), 406, "PRECONDITION_FAILED - queue 'q' in vhost '/' not empty"},
		{e(failure.ErrReservedName, "exchange"), 403, "ACCESS_REFUSED - exchange name 'q' contains reserved prefix 'amq.*'"},
		{e(failure.ErrDefaultExchange, "exchange"), 403, "ACCESS_REFUSED - operation not permitted on the default exchange"},
		{e(failure.ErrSystemExchange, "exchange"), 403, "ACCESS_REFUSED - deletion of system exchange 'q' in vhost '/' not allowed"},
		{e(failure.ErrInternalExchange, "exchange"), 403, "ACCESS_REFUSED - cannot publish to internal exchange 'q' in vhost '/'"},
		{e(failure.ErrExclusiveConsumer, "queue"), 403, "ACCESS_REFUSED - queue 'q' in vhost '/' in exclusive use"},
		{fmt.Errorf("wrapped: %w", failure.ErrRejected), 406, "PRECONDITION_FAILED - partial tx completion"},
		{errors.New("nobody knows"), 541, "INTERNAL_ERROR"},
	} {
		f := faultOf(c.err)
		if f.code != c.code || f.Error() != c.want {
			t.Errorf("%v:\n got %d %s\nwant %d %s", c.err, f.code, f.Error(), c.code, c.want)
		}
	}
}

func TestOctets(t *testing.T) {
	for in, want := range map[string]string{"": "<<>>", "abc": `<<"abc">>`, "\x00a": "<<0,97>>", `"`: "<<34>>"} {
		if got := octets([]byte(in)); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}
