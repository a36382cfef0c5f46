package policies

import (
	"encoding/json"
	"fmt"
	"testing"

	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/message"
)

var declaredNothing = catalog.DefaultQueuePolicy()

// compiled returns the rules of policies of a component, which are named a, b, c and so on.
func compiled(component string, values ...string) catalog.Rules {
	return Engine{}.Compile(parameters(component, values...))
}

func parameters(component string, values ...string) (all []catalog.Parameter) {
	for i, v := range values {
		all = append(all, catalog.Parameter{VHost: "/", Component: component, Name: string(rune('a' + i)), Value: json.RawMessage(v)})
	}
	return all
}

func policyOf(pattern, definition string, priority float64, to string) string {
	return fmt.Sprintf(`{"pattern":%q,"definition":%s,"priority":%v,"apply-to":%q}`, pattern, definition, priority, to)
}

func TestWhichPolicyCounts(t *testing.T) {
	r := compiled(Component,
		policyOf("^q", `{"max-length":1}`, 0, "all"),
		policyOf("^q", `{"max-length":2}`, 0, "queues"), // b: comes later by name
		policyOf("^q1", `{"max-length":3}`, 1.5, "queues"),
		policyOf("^q12", `{"max-length":4}`, 1, "queues"),
		policyOf("^x", `{"max-length":5}`, 0, "exchanges"),
		policyOf("^s", `{"max-age":"1D"}`, 9, "queues"), // f: for streams
		policyOf("^(?!amq\\.)s", `{"max-length":7}`, 0, "classic_queues"),
		policyOf("^s", `{"delivery-limit":7}`, 0, "queues"), // h: classic queues have no such limit
		policyOf("^all", `{"ha-mode":"all"}`, 1, "queues"),  // i: quorum queues have no mirrors
		policyOf("^all", `{"max-length":1}`, 0, "queues"),
		`{"pattern":"^bad"}`,
		policyOf("", `{"alternate-exchange":"ae"}`, -5, "exchanges"),
		policyOf("^st", `{"max-length":1}`, 0, "streams"),
	)
	quorum := message.Table{{Name: "x-queue-type", Value: "quorum"}}
	stream := message.Table{{Name: "x-queue-type", Value: "stream"}}
	for _, c := range []struct {
		name string
		args message.Table
		want string
	}{
		{"q2", nil, "a"}, {"q1", nil, "c"}, {"q12", nil, "c"}, {"x", nil, ""}, {"s", nil, "g"}, {"s", quorum, "h"}, {"all", nil, "i"}, {"all", quorum, "j"},
		{"bad", nil, ""}, {"amq.s", nil, ""}, {"st", nil, "g"},
		{"s", stream, "f"}, {"st", stream, "f"}, {"q2", stream, ""}, {"all", stream, ""},
	} {
		got := r.Queue(c.name, c.args, declaredNothing)
		if got.Policy != c.want || got.OperatorPolicy != "" || (got.Definition == "") != (c.want == "") {
			t.Errorf("queue %s %v: %+v, want %s", c.name, c.args, got.Applied, c.want)
		}
	}
	for name, want := range map[string]string{"q2": "a", "x": "e", "other": "l"} {
		alternate, applied := r.Exchange(name)
		if applied.Policy != want || (alternate == "ae") != (want == "l") {
			t.Errorf("exchange %s: %q, %+v, want %s", name, alternate, applied, want)
		}
	}
}

// For a stream every setting of a policy takes precedence over its own arguments.
func TestRulingOfAStream(t *testing.T) {
	args := message.Table{{Name: "x-queue-type", Value: "stream"}, {Name: "x-max-age", Value: "1h"}, {Name: "x-max-length-bytes", Value: int64(5)}}
	declared := declaredNothing
	declared.Stream, declared.MaxAge, declared.MaxLengthBytes = true, 3_600_000, 5
	r := compiled(Component, policyOf("^s", `{"max-age":"2D","max-length-bytes":9}`, 0, "streams"))
	got := r.Queue("s", args, declared)
	if got.MaxAge != 2*86_400_000 || got.MaxLengthBytes != 9 || !got.Stream {
		t.Errorf("got %+v", got)
	}
}

// Combinations of a declaration, a policy and an operator policy.
func TestRuling(t *testing.T) {
	type change = func(*catalog.Ruling)
	for name, c := range map[string]struct {
		args             message.Table
		declared         change
		policy, operator string
		want             change
	}{
		"nothing is declared": {nil, nil, `{"message-ttl":5,"expires":6,"max-length":7,"max-length-bytes":8,"overflow":"reject-publish","dead-letter-exchange":"",
			"dead-letter-routing-key":"k","consumer-timeout":9,"sync":"os","delayed-retry-type":"failed","delayed-retry-min":10,"delayed-retry-max":11,
			"max-publish-rate":12,"max-publish-bytes-rate":13}`, "", func(r *catalog.Ruling) {
			r.MessageTTL, r.Expires, r.MaxLength, r.MaxLengthBytes, r.Overflow = 5, 6, 7, 8, catalog.RejectPublish
			r.DeadLetter, r.HasDeadLetterKey, r.DeadLetterKey, r.ConsumerTimeout, r.Sync = true, true, "k", 9, catalog.SyncOS
			r.RetryType, r.RetryMin, r.RetryMax, r.Messages, r.Bytes = catalog.RetryFailed, 10, 11, 12, 13
		}},
		"the smaller number, and the queue's choice": {
			message.Table{{Name: "x-max-length", Value: int32(3)}, {Name: "x-message-ttl", Value: int32(50)}, {Name: "x-overflow", Value: "drop-head"},
				{Name: "x-dead-letter-exchange", Value: "own"}, {Name: "x-sync", Value: "always"}, {Name: "x-delayed-retry-min", Value: int32(1)}},
			func(r *catalog.Ruling) {
				r.MaxLength, r.MessageTTL, r.DeadLetter, r.DeadLetterExchange, r.Sync, r.RetryMin = 3, 50, true, "own", catalog.SyncAlways, 1
			},
			`{"max-length":10,"message-ttl":5,"overflow":"reject-publish","dead-letter-exchange":"p","sync":"os","delayed-retry-min":9}`, "",
			func(r *catalog.Ruling) {
				r.MaxLength, r.MessageTTL, r.DeadLetter, r.DeadLetterExchange, r.Sync, r.RetryMin = 3, 5, true, "own", catalog.SyncAlways, 1
			}},
		"an operator's bounds": {nil, nil, `{"max-length":10,"message-ttl":5,"overflow":"reject-publish"}`, `{"max-length":3,"message-ttl":50,"expires":1000,"overflow":"drop-head"}`,
			func(r *catalog.Ruling) { r.MaxLength, r.MessageTTL, r.Expires = 3, 5, 1000 }},
		"a quorum queue": {
			message.Table{{Name: "x-queue-type", Value: "quorum"}, {Name: "x-overflow", Value: "drop-head"}, {Name: "x-expires", Value: int32(5)}},
			func(r *catalog.Ruling) { r.DeliveryLimit, r.Expires = 20, 5 },
			`{"delivery-limit":50,"overflow":"reject-publish","expires":9,"dead-letter-strategy":"at-least-once"}`, "",
			func(r *catalog.Ruling) {
				r.DeliveryLimit, r.Overflow, r.Expires, r.AtLeastOnce = 50, catalog.RejectPublish, 9, true
			}},
		"no limit of deliveries": {
			message.Table{{Name: "x-queue-type", Value: "quorum"}, {Name: "x-delivery-limit", Value: int32(-1)}},
			func(r *catalog.Ruling) { r.DeliveryLimit = -1 }, `{"delivery-limit":5}`, "", func(r *catalog.Ruling) { r.DeliveryLimit = 5 }},
		"numbers beyond all bounds": {nil, nil, `{"max-length":99999999999999999999999,"message-ttl":99999999999999999999999}`, "",
			func(r *catalog.Ruling) { r.MaxLength, r.MessageTTL = maxNumber, maxTimer }},
	} {
		t.Run(name, func(t *testing.T) {
			declared := catalog.Ruling{QueuePolicy: declaredNothing}
			if c.declared != nil {
				c.declared(&declared)
			}
			all := parameters(Component, policyOf("", c.policy, 0, "all"))
			if c.operator != "" {
				all = append(all, parameters(OperatorComponent, policyOf("", c.operator, 0, "all"))...)
			}
			want := catalog.Ruling{QueuePolicy: declaredNothing}
			c.want(&want)
			got := Engine{}.Compile(all).Queue("q", c.args, declared.QueuePolicy)
			got.Applied = catalog.Applied{}
			if got != want {
				t.Errorf("\n got %+v\nwant %+v", got, want)
			}
		})
	}
}

func TestEffectiveDefinition(t *testing.T) {
	all := append(parameters(Component, policyOf("^q", `{"max-length":10,"overflow":"reject-publish","message-ttl":5}`, 0, "all")),
		parameters(OperatorComponent, policyOf("1$", `{"max-length":3,"expires":1000000,"message-ttl":50}`, 0, "all"))...)
	r := Engine{}.Compile(all)
	for name, want := range map[string]catalog.Applied{
		"q1": {Policy: "a", OperatorPolicy: "a", Definition: `{"expires":1000000,"max-length":3,"message-ttl":5,"overflow":"reject-publish"}`},
		"q2": {Policy: "a", Definition: `{"max-length":10,"message-ttl":5,"overflow":"reject-publish"}`},
		"1":  {OperatorPolicy: "a", Definition: `{"expires":1000000,"max-length":3,"message-ttl":50}`},
		"":   {},
	} {
		for range 2 { // the second time from the cache
			if got := r.Queue(name, nil, declaredNothing).Applied; got != want {
				t.Errorf("%s: %+v, want %+v", name, got, want)
			}
		}
	}
	if _, applied := r.Exchange("q1"); applied != (catalog.Applied{Policy: "a"}) {
		t.Errorf("the exchange q1 has %+v", applied)
	}
}
