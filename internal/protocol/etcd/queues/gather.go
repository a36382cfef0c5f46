package queues

import (
	"bytes"

	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/protocol/etcd/qkey"
)

// span collects the keys of a range.
func (g *gathering) span(span qkey.Span) error {
	if span.Queue != nil {
		path := qkey.Parse(append(bytes.Clone(span.Root), span.Queue...))
		name := string(path.Queue)
		if err := g.who.Session.MayConsume(name); err != nil {
			return err
		}
		return g.queue(&span, name, span.Queue)
	}
	all, err := inspect.ReadableQueues(g.who.Session)
	if err != nil {
		return err
	}
	for i := range all {
		segment := qkey.AppendName(nil, all[i].Name)
		if span.Meets(append(bytes.Clone(span.Root), segment...)) {
			if err := g.queue(&span, all[i].Name, segment); err != nil {
				return err
			}
		}
	}
	return nil
}

// queue collects the keys of a range that belong to one queue.
func (g *gathering) queue(span *qkey.Span, name string, segment []byte) error {
	if !g.who.Session.HasQueue(name) {
		return nil
	}
	base := append(bytes.Clone(span.Root), segment...)
	if span.Has(base) {
		g.count++
		if err := g.add(g.n.queueRecord(base)); err != nil {
			return err
		}
	}
	if err := g.messages(span, name, base); err != nil {
		return err
	}
	if err := g.settle(name); err != nil {
		return err
	}
	return g.consumers(span, name, base)
}

// consumers collects the consumers of a queue with their deliveries.
func (g *gathering) consumers(span *qkey.Span, name string, base []byte) error {
	base = append(append(append(bytes.Clone(base), '/'), span.Part...), '/')
	if !span.Meets(base) {
		return nil
	}
	for _, c := range g.n.consumersOf(name) {
		segment := qkey.AppendName(nil, c.client)
		if span.Client != nil && string(qkey.Parse(append(bytes.Clone(base), span.Client...)).Client) == c.client {
			segment = span.Client
		}
		own := append(bytes.Clone(base), segment...)
		if !span.Meets(own) {
			continue
		}
		if span.Client != nil {
			c.usedBy(g.who)
		}
		if span.Has(own) {
			g.count++
			if err := g.add(c.record(own)); err != nil {
				return err
			}
		}
		for _, h := range c.holds() {
			if kv := h.kv(own); span.Has(kv.Key) {
				g.count++
				if err := g.add(kv); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// messages collects the unacknowledged messages of a queue.
func (g *gathering) messages(span *qkey.Span, name string, base []byte) error {
	if !span.Meets(append(bytes.Clone(base), '/')) || span.FirstIndex(base) == 1<<64-1 {
		return nil
	}
	whole := span.Has(append(bytes.Clone(base), "/0"...)) && span.Has(append(bytes.Clone(base), "/:"...))
	if whole {
		n, err := g.countAll(name)
		if err != nil {
			return err
		}
		g.count += n
		if g.countOnly {
			return nil
		}
	}
	return g.walk(span, name, base, whole)
}

// countAll returns the number of unacknowledged messages of a queue.
func (g *gathering) countAll(name string) (int64, error) {
	s, err := g.n.Operator()
	if err != nil {
		return 0, err
	}
	defer g.n.Back(s)
	g.looked = true
	st, err := inspect.Queue(s, name)
	return int64(st.Ready + st.Unacked + st.Scheduled + st.Blocked), unlessGone(err)
}

// walk visits the messages one by one. counted means that their number is known.
func (g *gathering) walk(span *qkey.Span, name string, base []byte, counted bool) error {
	b, err := g.browse(name)
	if b == nil || err != nil {
		return err
	}
	b.Seek(handleOf(span.FirstIndex(base)))
	ordered, found, end := true, 0, span.EndIndex(base)
	for first := true; ; first = false {
		page, err := b.Next(pageOf(g.most))
		if err != nil || len(page) == 0 {
			return unlessGone(err)
		}
		if first {
			ordered = page[0].Handle.Priority() == 0 // else lower indexes come later
		}
		for i := range page {
			key := appendMessageKey(bytes.Clone(base), page[i].Handle, tailOf(page[i].Env))
			switch {
			case !span.Has(key):
				if ordered && bytes.Compare(key, span.To) >= 0 {
					return nil
				}
				continue
			case !counted:
				g.count++
			}
			if g.countOnly || ordered && g.most > 0 && found >= g.most {
				if counted {
					return nil
				}
				continue
			}
			found++
			if err := g.add(messageKV(key, page[i].Handle, page[i].Env)); err != nil {
				return err
			}
		}
		if !counted && ordered && (g.countOnly || g.most > 0 && found >= g.most) {
			n, err := b.Skip(handleOf(end))
			if g.count += int64(n); err != nil {
				return unlessGone(err)
			}
		}
	}
}

// pageOf returns the page size for reading at most the given number of messages.
func pageOf(most int) int {
	if most > 0 {
		return most
	}
	return 1 << 20 // limited by the page size
}
