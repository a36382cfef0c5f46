package broker

import (
	"fiveways/internal/core/message"
	"fiveways/internal/core/queue"
	"slices"
)

// Why a message died, as x-death says it.
const (
	reasonRejected      = "rejected"
	reasonExpired       = "expired"
	reasonMaxLength     = "maxlen"
	reasonDeliveryLimit = "delivery_limit"
)

// bury disposes of an unacked message of q that died: to the dead-letter
// exchange if q has one, else it is gone. A message that cannot be read back is
// set aside.
func (sh *shard) bury(q *Queue, h queue.Handle, reason string) {
	it, status := q.state.Get(h)
	if status != queue.Unacked {
		return
	}
	if !q.Policy().DeadLetter {
		q.died(reason)
		sh.settle(q, h, 1)
		return
	}
	env, err := sh.load(q, it)
	if err != nil {
		sh.setAside(q, it, err)
		return
	}
	if q.jobs != nil {
		q.jobs.book.Finish(h) // it is dead from now on, also while it is on its way
	}
	q.died(reason)
	if q.Policy().insists() {
		sh.sendSure(q, deadWait{handle: h, reason: reason}, env, false)
		return
	}
	sh.sendDead(q, env, reason, &handover{source: q, handle: h, size: int64(len(env))})
}

// deadLetterRefused sends a refused publish to the dead-letter exchange.
func (sh *shard) deadLetterRefused(q *Queue, o *op) {
	if q.Policy().DeadLetter {
		sh.sendDead(q, o.env, reasonMaxLength, nil)
	}
}

// sendDead routes a dead message and hands it to its new queues. d is nil when
// there is no source to settle.
func (sh *shard) sendDead(q *Queue, env message.Envelope, reason string, d *handover) {
	letter, err := newDeadMessage(q, env, reason, sh.now)
	if err != nil {
		sh.b.log.Error("a dead message cannot be rewritten", "vhost", q.vhost.Name, "queue", q.Name, "err", err)
	}
	var targets Targets
	if err == nil {
		targets = q.vhost.route(q.Policy().DeadLetterExchange, &letter)
		targets = letter.withoutCycles(targets)
	}
	if targets.Empty() {
		if d != nil {
			d.settle(sh)
		}
		return
	}
	q.counts.DeadLettered++
	sh.b.counters.deadLettered.Add(1)
	base := op{kind: opPublish, persistent: letter.persistent, priority: letter.priority, env: letter.env, ttl: -1}
	sh.handOver(base, targets, d)
}

// deadMessage is a rewritten message.
type deadMessage struct {
	env        message.Envelope
	key        []byte
	props      []byte
	also       [][]byte
	deaths     message.Array
	reason     string
	persistent bool
	priority   uint8
}

// newDeadMessage adds the death to the message's headers as RabbitMQ does:
// x-death (newest first, one entry per queue and reason with a count),
// x-first-death-*, x-last-death-*; the expiration moves into the entry.
func newDeadMessage(q *Queue, env message.Envelope, reason string, now int64) (deadMessage, error) {
	exchange, key, rawProps, body := env.Split()
	props, err := message.DecodeProperties(rawProps)
	if err != nil {
		return deadMessage{}, err
	}
	headers := props.Headers
	keys := message.Array{string(key)}
	if cc, ok := headers.Get("CC"); ok {
		if list, ok := cc.(message.Array); ok {
			keys = append(keys, list...)
		}
	}
	_, dead := headers.Get("x-death")
	deaths, first := bumpDeath(headers, q.Name, reason)
	if first {
		death := message.Table{
			{Name: "count", Value: int64(1)},
			{Name: "reason", Value: reason},
			{Name: "queue", Value: q.Name},
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
	if _, known := headers.Get("x-first-death-reason"); !known || !dead { // a client's word for it does not count
		headers.Set("x-first-death-reason", reason)
		headers.Set("x-first-death-queue", q.Name)
		headers.Set("x-first-death-exchange", string(exchange))
	}
	headers.Set("x-last-death-reason", reason)
	headers.Set("x-last-death-queue", q.Name)
	headers.Set("x-last-death-exchange", string(exchange))

	newKey := string(key)
	var also [][]byte
	if q.Policy().HasDeadLetterKey {
		newKey = q.Policy().DeadLetterKey
		headers.Delete("CC")
	} else {
		for _, k := range keys[1:] {
			if s, ok := k.(string); ok {
				also = append(also, []byte(s))
			}
		}
	}
	props.Headers = headers
	props.Flags = props.Flags&^message.HasExpiration | message.HasHeaders
	p := props.Append(nil)
	out := message.AppendEnvelopeHeader(make([]byte, 0, len(env)+len(p)+64), []byte(q.Policy().DeadLetterExchange), []byte(newKey), p)
	out = append(out, body...)
	m := deadMessage{
		env: out, key: []byte(newKey), props: p, also: also, deaths: deaths, reason: reason,
		persistent: props.DeliveryMode == 2, priority: props.Priority,
	}
	return m, nil
}

// bumpDeath finds the entry of this queue and reason, counts it up and moves
// it to the front; first tells that there is none.
func bumpDeath(headers message.Table, queueName, reason string) (deaths message.Array, first bool) {
	v, _ := headers.Get("x-death")
	old, _ := v.(message.Array)
	old = countDeaths(old)
	for i, e := range old {
		t, ok := e.(message.Table)
		if !ok {
			continue
		}
		dq, _ := t.Get("queue")
		dr, _ := t.Get("reason")
		if dq != queueName || dr != reason {
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

// countDeaths joins the entries of one queue and reason when some have no count: RabbitMQ before
// 3.5.3 made an entry for each death.
func countDeaths(deaths message.Array) message.Array {
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
		c.queue, _ = queue.(string) // only these can be told apart
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

// withoutCycles takes out queues where the message died before of its own
// accord: a round in which no consumer rejected it would never end.
func (m *deadMessage) withoutCycles(t Targets) Targets {
	kept := t.queues[:0:0]
	for _, q := range t.queues {
		if !m.cycles(q.Name) {
			kept = append(kept, q)
		}
	}
	return newTargets(kept)
}

func (m *deadMessage) cycles(queueName string) bool {
	if m.reason == reasonRejected {
		return false
	}
	for _, e := range m.deaths {
		t, ok := e.(message.Table)
		if !ok {
			continue
		}
		if r, _ := t.Get("reason"); r == reasonRejected {
			return false
		}
		if dq, _ := t.Get("queue"); dq == queueName {
			return true
		}
	}
	return false
}
