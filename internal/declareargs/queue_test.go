package declareargs

import (
	"testing"

	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/message"
)

const resource = "queue 'q' in vhost '/'"

func TestQueueRefuses(t *testing.T) {
	for _, c := range []struct {
		arg  string
		v    any
		want string // text after "invalid arg … : "
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
		_, refused := Queue(message.Table{{Name: c.arg, Value: c.v}})
		wantRefused(t, refused, "invalid arg '"+c.arg+"' for queue 'q' in vhost '/': "+c.want)
	}
}

func TestOtherRefusals(t *testing.T) {
	for _, c := range []struct {
		arg  string
		v    any
		want string
	}{
		{"x-dead-letter-exchange", int64(1), "invalid type 'long' for arg 'x-dead-letter-exchange' in queue 'q' in vhost '/'"},
		{"x-queue-type", "streams", "unsupported queue type 'streams'"},
		{"x-max-age", "1D", "invalid arg 'x-max-age' for queue 'q' in vhost '/' of queue type rabbit_classic_queue"},
	} {
		_, refused := Queue(message.Table{{Name: c.arg, Value: c.v}})
		wantRefused(t, refused, c.want)
	}
	_, _, refused := Exchange(message.Table{{Name: "alternate-exchange", Value: true}})
	wantRefused(t, refused, "invalid type 'bool' for arg 'alternate-exchange' in queue 'q' in vhost '/'")
	_, _, refused = Exchange(message.Table{{Name: "x-cache-size", Value: int32(0)}})
	wantRefused(t, refused, "invalid arg 'x-cache-size' for queue 'q' in vhost '/': {value_zero,0}")
	refused = Consumer(message.Table{{Name: "x-stream-offset", Value: "first"}}, false)
	wantRefused(t, refused, "invalid arg 'x-stream-offset' for queue 'q' in vhost '/' of queue type rabbit_classic_queue")
}

func wantRefused(t *testing.T, refused *Refusal, want string) {
	t.Helper()
	if refused == nil || refused.Text(resource) != want {
		t.Errorf("got %+v, want %s", refused, want)
	}
}

func TestQueueReads(t *testing.T) {
	got, refused := Queue(message.Table{
		{Name: "x-message-ttl", Value: int32(0)}, {Name: "x-expires", Value: uint16(5000)}, {Name: "x-max-length", Value: int64(10)},
		{Name: "x-max-length-bytes", Value: int8(100)}, {Name: "x-max-priority", Value: uint8(9)}, {Name: "x-overflow", Value: "reject-publish-dlx"},
		{Name: "x-dead-letter-exchange", Value: ""}, {Name: "x-dead-letter-routing-key", Value: "dead"}, {Name: "x-queue-type", Value: "quorum"},
		{Name: "x-queue-mode", Value: "lazy"}, {Name: "x-ha-policy", Value: "all"}, {Name: "x-single-active-consumer", Value: false},
	})
	if refused != nil {
		t.Fatal(refused.Text(resource))
	}
	want := catalog.DefaultQueuePolicy()
	want.MessageTTL, want.Expires, want.MaxLength, want.MaxLengthBytes, want.MaxPriority = 0, 5000, 10, 100, 9
	want.Overflow, want.DeadLetter, want.HasDeadLetterKey, want.DeadLetterKey = catalog.RejectPublishDLX, true, true, "dead"
	want.DeliveryLimit, want.CountDeliveries, want.ActiveByRank = 20, true, true // quorum defaults
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got, refused := Queue(nil); refused != nil || got != catalog.DefaultQueuePolicy() {
		t.Errorf("no arguments: %+v, %v", got, refused)
	}
}

func TestExchangeReads(t *testing.T) {
	alternate, buffer, refused := Exchange(message.Table{{Name: "alternate-exchange", Value: "lost"}, {Name: "x-message-deduplication", Value: true}})
	if alternate != "lost" || !buffer.Deduplicate || refused != nil {
		t.Errorf("alternate %q, deduplicates %v, refused %+v", alternate, buffer.Deduplicate, refused)
	}
}
