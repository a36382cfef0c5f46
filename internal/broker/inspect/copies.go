package inspect

import (
	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
)

// ConsumeCopies registers a consumer that gets copies of the messages that a queue holds now, as
// encoded by show; then the broker cancels it (broker.Session.ConsumeFrom). Its deliveries have no
// Count. Of spec only Queue, Tag, Selector, Data and Started are used. Errors: those of Browse.
func ConsumeCopies(s *broker.Session, spec shard.ConsumerSpec, show func(*Message) message.Envelope) (*shard.Consumer, error) {
	b, err := Browse(s, spec.Queue)
	if err != nil {
		return nil, err
	}
	return s.ConsumeFrom(spec, b.q, func(c *shard.Consumer, out []shard.Delivery) ([]shard.Delivery, bool) {
		page, err := b.Next(shard.PageMessages)
		for i := range page {
			if m := &page[i]; spec.Selector == nil || spec.Selector.Match(m.Env) {
				out = append(out, shard.Delivery{Consumer: c, Env: show(m), Redelivered: m.Redelivered})
			}
		}
		return out, err == nil && len(page) > 0
	})
}
