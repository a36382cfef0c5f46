package broker

import (
	"slices"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
)

// lending stands in for the commands of package loans: it lends the messages that find names unless
// they are lent already, even if consumers may not get them.
type lending struct {
	OnQueue
	find func(at shard.Context) []queue.Handle
	got  []shard.Delivery
}

func (l *lending) Find(f Finder) (*shard.Queue, error) { return f.Queue(Reading, l.Queue, false) }

func (l *lending) Run(at shard.Context) error {
	at.Deliveries().Due(at.Now())
	for _, h := range l.find(at) {
		it, status := at.Deliveries().Get(h)
		if status == queue.Gone || status == queue.Unacked || it.Expires != 0 && it.Expires <= at.Now() {
			continue
		}
		env, err := at.Load(it)
		if err != nil {
			return err
		}
		at.Deliveries().LendAside(h)
		l.got = append(l.got, at.Lent(l.By(), it, env))
	}
	at.Changed()
	return nil
}

func (c *client) lend(q string, find func(at shard.Context) []queue.Handle) []shard.Delivery {
	c.t.Helper()
	l := lending{OnQueue: on(q), find: find}
	must(c.t, c.Run(&l))
	return l.got
}

// lendID lends the message with an id.
func (c *client) lendID(q, id string) (d shard.Delivery, ok bool) {
	c.t.Helper()
	all, err := shownIn(c.Session, q)
	must(c.t, err)
	i := slices.IndexFunc(all, func(s shown) bool { return s.id == id })
	if i < 0 {
		return d, false
	}
	for _, d := range c.lend(q, func(shard.Context) []queue.Handle { return []queue.Handle{all[i].handle} }) {
		return d, true
	}
	return d, false
}

// gets gets up to n messages, which must be acknowledged.
func (c *client) gets(q string, n int) (ds []shard.Delivery) {
	c.t.Helper()
	for len(ds) < n {
		d, _, ok, err := c.Get(q, false)
		must(c.t, err)
		if !ok {
			break
		}
		ds = append(ds, d)
	}
	return ds
}

// named publishes a persistent message whose body is also its id.
func (c *client) named(q, id string, change func(*shard.Publish)) {
	c.t.Helper()
	props := message.Properties{Flags: message.HasDeliveryMode | message.HasMessageID, DeliveryMode: 2, MessageID: id}
	c.postProps("", q, id, props, change)
	c.settled(q)
}
