package deadletter

import (
	"slices"

	"fiveways.dev/fiveways/internal/core/forward"
	"fiveways.dev/fiveways/internal/core/message"
)

// From describes the queue where a message died and where the queue sends dead letters.
type From struct {
	Queue    string
	Exchange string // target of dead letters
	Key      string // if HasKey, replaces the message's own routing keys
	HasKey   bool
}

// Message is a dead letter in transit.
type Message struct {
	forward.Message
	deaths message.Array
	reason Reason
}

// Rewrite adds the death to the message's headers as RabbitMQ does: x-death (newest first, one
// entry per queue and reason with a count), x-first-death-*, x-last-death-*; the expiration is
// moved into the entry. now is unix ms. Errors: message.ErrMalformedProperties and those of a
// header table.
func Rewrite(env message.Envelope, from From, reason Reason, now int64) (Message, error) {
	exchange, key, rawProps, body := env.Split()
	props, err := message.DecodeProperties(rawProps)
	if err != nil {
		return Message{}, err
	}
	headers := props.Headers
	keys := message.Array{string(key)}
	if cc, ok := headers.Get("CC"); ok {
		if list, ok := cc.(message.Array); ok {
			keys = append(keys, list...)
		}
	}
	_, died := headers.Get("x-death")
	deaths, first := countDeath(headers, from.Queue, reason)
	if first {
		death := message.Table{
			{Name: "count", Value: int64(1)},
			{Name: "reason", Value: string(reason)},
			{Name: "queue", Value: from.Queue},
			{Name: "time", Value: message.Timestamp(now / 1000)},
			{Name: "exchange", Value: string(exchange)},
			{Name: "routing-keys", Value: keys},
		}
		if props.Has(message.HasExpiration) {
			death = append(death, message.Field{Name: "original-expiration", Value: props.Expiration})
		}
		deaths = append(message.Array{death}, deaths...)
	}
	headers.Set("x-death", deaths)
	if _, known := headers.Get("x-first-death-reason"); !known || !died { // what the client claims is ignored
		headers.Set("x-first-death-reason", string(reason))
		headers.Set("x-first-death-queue", from.Queue)
		headers.Set("x-first-death-exchange", string(exchange))
	}
	headers.Set("x-last-death-reason", string(reason))
	headers.Set("x-last-death-queue", from.Queue)
	headers.Set("x-last-death-exchange", string(exchange))

	newKey := string(key)
	if from.HasKey {
		newKey = from.Key
		headers.Delete("CC")
	}
	props.Headers = headers
	props.Flags = props.Flags&^message.HasExpiration | message.HasHeaders
	p := props.Append(nil)
	out := message.AppendEnvelopeHeader(make([]byte, 0, len(env)+len(p)+64), []byte(from.Exchange), []byte(newKey), p)
	m, err := forward.Read(append(out, body...))
	return Message{Message: m, deaths: deaths, reason: reason}, err
}

// countDeath finds the entry of this queue and reason, increments it and moves it to the front;
// first reports that there was none.
func countDeath(headers message.Table, queueName string, reason Reason) (deaths message.Array, first bool) {
	v, _ := headers.Get("x-death")
	old, _ := v.(message.Array)
	old = joinUncounted(old)
	for i, e := range old {
		t, ok := e.(message.Table)
		if !ok {
			continue
		}
		dq, _ := t.Get("queue")
		dr, _ := t.Get("reason")
		if dq != queueName || dr != string(reason) {
			continue
		}
		n, _ := t.Get("count")
		count, _ := message.Int(n)
		t.Set("count", count+1)
		deaths = append(message.Array{t}, old[:i]...)
		return append(deaths, old[i+1:]...), false
	}
	return old, true
}

// joinUncounted merges the entries of one queue and reason if some have no count: RabbitMQ before
// 3.5.3 made an entry for each death.
func joinUncounted(deaths message.Array) message.Array {
	counted := func(e any) bool {
		t, ok := e.(message.Table)
		if !ok {
			return true
		}
		_, has := t.Get("count")
		return has
	}
	if !slices.ContainsFunc(deaths, func(e any) bool { return !counted(e) }) {
		return deaths
	}
	type cause struct{ queue, reason string }
	times := map[cause]int64{}
	causeOf := func(t message.Table) (c cause) {
		queue, _ := t.Get("queue")
		reason, _ := t.Get("reason")
		c.queue, _ = queue.(string) // only texts identify a queue
		c.reason, _ = reason.(string)
		return c
	}
	var joined message.Array
	for _, e := range deaths {
		if t, ok := e.(message.Table); ok {
			if times[causeOf(t)]++; times[causeOf(t)] > 1 {
				continue
			}
		}
		joined = append(joined, e)
	}
	for i, e := range joined {
		if !counted(e) {
			t := slices.Clone(e.(message.Table))
			t.Set("count", times[causeOf(t)])
			joined[i] = t
		}
	}
	return joined
}

// Cycles reports whether the message died in this queue before and has not been rejected since.
// Such a cycle would never end.
func (m *Message) Cycles(queueName string) bool {
	if m.reason == Rejected {
		return false
	}
	for _, e := range m.deaths {
		t, ok := e.(message.Table)
		if !ok {
			continue
		}
		if r, _ := t.Get("reason"); r == string(Rejected) {
			return false
		}
		if dq, _ := t.Get("queue"); dq == queueName {
			return true
		}
	}
	return false
}
