package amqp

import (
	"testing"

	"fiveways/internal/broker"
	"fiveways/internal/core/message"
)

func TestQueuePolicyRefuses(t *testing.T) {
	for _, c := range []struct {
		arg  string
		v    any
		want string // behind "invalid arg … : ", or the whole text
	}{
		{"x-message-ttl", int32(-1), "{value_negative,-1}"},
		{"x-message-ttl", "60", `"expected integer, got longstr"`},
		{"x-expires", int8(0), "{value_zero,0}"},
		{"x-expires", true, `"expected integer, got bool"`},
		{"x-max-length", int64(-5), "{value_negative,-5}"},
		{"x-max-length-bytes", 1.5, `"expected integer, got double"`},
		{"x-max-priority", int32(300), "{max_value_exceeded,300}"},
		{"x-max-priority", int32(-3), "{value_negative,-3}"},
		{"x-overflow", "sometimes", "invalid_overflow"},
		{"x-overflow", int32(1), "{unacceptable_type,signedint}"},
		{"x-queue-mode", "eager", `"unsupported queue mode 'eager'"`},
		{"x-dead-letter-routing-key", "k", "routing_key_but_no_dlx_defined"},
		{"x-dead-letter-routing-key", int32(1), "{unacceptable_type,signedint}"},
		{"x-queue-version", int32(3), `"unsupported queue version '3'"`},
		{"x-single-active-consumer", "yes", "{unacceptable_type,longstr}"},
	} {
		_, err := queuePolicy(message.Table{{Name: c.arg, Value: c.v}}, "queue 'q' in vhost '/'")
		want := "PRECONDITION_FAILED - invalid arg '" + c.arg + "' for queue 'q' in vhost '/': " + c.want
		if err == nil || err.Error() != want {
			t.Errorf("%s=%v:\n got %v\nwant %s", c.arg, c.v, err, want)
		}
	}
	for arg, c := range map[string]struct {
		v    any
		want string
	}{
		"x-dead-letter-exchange": {int64(1), "PRECONDITION_FAILED - invalid type 'long' for arg 'x-dead-letter-exchange' in queue 'q' in vhost '/'"},
		"x-queue-type":           {"stream", "PRECONDITION_FAILED - unsupported queue type 'stream'"},
	} {
		if _, err := queuePolicy(message.Table{{Name: arg, Value: c.v}}, "queue 'q' in vhost '/'"); err == nil || err.Error() != c.want {
			t.Errorf("%s: got %v, want %s", arg, err, c.want)
		}
	}
}

func TestQueuePolicyReads(t *testing.T) {
	got, err := queuePolicy(message.Table{
		{Name: "x-message-ttl", Value: int32(0)}, {Name: "x-expires", Value: uint16(5000)}, {Name: "x-max-length", Value: int64(10)},
		{Name: "x-max-length-bytes", Value: int8(100)}, {Name: "x-max-priority", Value: uint8(9)}, {Name: "x-overflow", Value: "reject-publish-dlx"},
		{Name: "x-dead-letter-exchange", Value: ""}, {Name: "x-dead-letter-routing-key", Value: "dead"}, {Name: "x-queue-type", Value: "quorum"},
		{Name: "x-queue-mode", Value: "lazy"}, {Name: "x-ha-policy", Value: "all"}, {Name: "x-single-active-consumer", Value: false},
	}, "queue 'q' in vhost '/'")
	if err != nil {
		t.Fatal(err)
	}
	want := broker.DefaultQueuePolicy()
	want.MessageTTL, want.Expires, want.MaxLength, want.MaxLengthBytes, want.MaxPriority = 0, 5000, 10, 100, 9
	want.Overflow, want.DeadLetter, want.HasDeadLetterKey, want.DeadLetterKey = broker.RejectPublishDLX, true, true, "dead"
	want.DeliveryLimit, want.CountDeliveries, want.ActiveByRank = 20, true, true // of a quorum queue
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got, err := queuePolicy(nil, "queue 'q' in vhost '/'"); err != nil || got != broker.DefaultQueuePolicy() {
		t.Errorf("no arguments: %+v, %v", got, err)
	}
}

func TestExpiration(t *testing.T) {
	for in, want := range map[string]string{
		"0": "", "60000": "", "+5": "",
		"":                     "invalid expiration '': no_integer",
		"abc":                  "invalid expiration 'abc': no_integer",
		"--5":                  "invalid expiration '--5': no_integer",
		"10x":                  `invalid expiration '10x': {leftover_string,"x"}`,
		"-1":                   "invalid expiration '-1': {value_negative,-1}",
		"-01":                  "invalid expiration '-01': {value_negative,-1}",
		"315360000000":         "",
		"315360000001":         "invalid expiration '315360000001': {value_too_large,315360000001}",
		"99999999999999999999": "invalid expiration '99999999999999999999': {value_too_large,99999999999999999999}",
	} {
		n, err := expiration([]byte(in))
		if n < 0 || n > maxExpiry {
			t.Errorf("%q: %d ms", in, n)
		}
		got := ""
		if err != nil {
			got = faultOf(err).text
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
