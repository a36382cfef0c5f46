package oracle

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"fiveways.dev/fiveways/internal/amqpcode"
	"fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"
)

// This file implements how a script waits until a broker has done everything that a line caused,
// without knowing what that is and without sleeping.
//
// The effects of a line move through the broker from one queue or channel to the next, and each of
// these works in the order of its requests. So a round sends a harmless request to every channel
// (channel.flow) and a request for its counts to every queue (a passive declare), and waits for the
// answers. When an answer is there, everything that was ahead of its request is done, and what that
// caused is ahead of the next round's requests. Rounds are repeated until two in a row bring
// nothing new, neither frames nor changed counts. Confirms are awaited by number: each publish has
// one.
//
// RabbitMQ answers the request for counts with priority, out of turn, but it begins the earlier
// work before the next request can arrive. At least three rounds make up for that.
const (
	leastRounds = 3
	quietRounds = 2
	mostRounds  = 200 // with news: an endless loop shows as a difference
)

// expiryTime is how long a message with an expiration of 0 may still be counted. Fiveways looks at
// its clock once per millisecond, and after five milliseconds looks again at a queue that has
// received an expired message.
const expiryTime = 20 * time.Millisecond

// probeChannel is the channel of each connection on which queues are asked for their counts.
const probeChannel = 1999

// probed is a queue that the script has declared, with what was last known about it.
type probed struct {
	name  string
	owner *peer  // of an exclusive queue
	now   string // its counts in this round
	shown string // its counts when they were last shown
}

// settle waits until all effects have ended and records them: for each connection and channel what
// was received, then the queues that have changed.
func (r *run) settle() {
	news := time.Now()
	restless := 0
	for quiet, rounds := 0, 0; quiet < quietRounds || rounds < leastRounds || r.instant && time.Since(news) < expiryTime; rounds++ {
		if restless == mostRounds {
			r.answers = append(r.answers, "it does not come to rest")
			break
		}
		quiet++
		if r.round() {
			quiet, news = 0, time.Now()
			restless++
		}
	}
	for _, p := range r.sorted() {
		for _, id := range p.sorted() {
			ch := p.channels[id]
			for _, text := range ch.async {
				if p.over && strings.HasPrefix(text, "basic.deliver ") {
					continue // it came while the channels closed one after another: unreliable
				}
				r.note(p, event{channel: id, text: text})
			}
			ch.async = nil
			if len(ch.confirms) > 0 {
				r.note(p, event{channel: id, text: ch.takeConfirms()})
			}
		}
	}
	r.showQueues()
}

// showQueues records the counts that have changed, and forgets queues that are gone.
func (r *run) showQueues() {
	for _, q := range r.queues {
		if q.now != q.shown {
			r.answers = append(r.answers, fmt.Sprintf("queue %q: %s", q.name, q.now))
			q.shown = q.now
		}
	}
	r.queues = slices.DeleteFunc(r.queues, func(q *probed) bool { return q.now == gone })
}

const gone = "gone"

// round sends all requests once, and reports whether there was anything new.
func (r *run) round() (news bool) {
	peers := r.sorted()
	for _, p := range peers {
		p.askChannels()
	}
	for _, p := range peers {
		news = p.gather() || news
	}
	return r.askQueues() || news
}

// askChannels sends a request to each open channel.
func (p *peer) askChannels() {
	if p.over || !p.loggedIn {
		return
	}
	var b []byte
	p.asked = 0
	for _, id := range p.sorted() {
		if p.channels[id].open && id != probeChannel {
			b = amqpwire.AppendMethodFrame(b, id, &amqpwire.ChannelFlow{Active: true})
			p.asked++
		}
	}
	p.write(b)
}

// gather reads until the requests are answered, or can no longer be, and all publishes are
// confirmed.
func (p *peer) gather() (news bool) {
	for !p.over && p.loggedIn && (p.asked > 0 || p.unconfirmed()) {
		e := p.next()
		switch {
		case e.kind == reply && strings.HasPrefix(e.text, "channel.flow-ok"):
			p.asked--
			continue
		case e.kind == reply && strings.HasPrefix(e.text, "channel.close "):
			p.asked-- // it does not answer any more
			fallthrough
		case e.kind == reply:
			ch := p.channel(e.channel)
			ch.async = append(ch.async, e.text)
		case e.kind == finished:
			ch := p.channel(0)
			ch.async = append(ch.async, e.text)
			p.over = true
		}
		news = news || e.text != "" && e.kind != beat
	}
	return news
}

// unconfirmed reports whether confirms are outstanding.
func (p *peer) unconfirmed() bool {
	for _, ch := range p.channels {
		if ch.open && ch.confirming && len(ch.answered) < ch.published {
			return true
		}
	}
	return false
}

// askQueues asks each queue for its counts, through the connection that owns it if it is exclusive,
// otherwise through any connection.
func (r *run) askQueues() (news bool) {
	asked := map[*peer][]*probed{}
	for _, q := range r.queues {
		if q.owner != nil && q.owner.over {
			news = q.set(gone) || news
			continue
		}
		p := q.owner
		if p == nil {
			p = r.prober()
		}
		asked[p] = append(asked[p], q)
	}
	for _, p := range r.sorted() {
		if qs := asked[p]; len(qs) > 0 {
			news = p.probe(qs) || news
		}
	}
	return news
}

// set stores the counts, and reports whether they have changed.
func (q *probed) set(counts string) bool {
	changed := q.now != counts
	q.now = counts
	return changed
}

// probe asks for the counts of queues. A queue that does not exist closes the channel, and then the
// others are asked again.
func (p *peer) probe(qs []*probed) (news bool) {
	for len(qs) > 0 && !p.over {
		ch := p.channel(probeChannel)
		var b []byte
		if !ch.open {
			b = amqpwire.AppendMethodFrame(b, probeChannel, &amqpwire.ChannelOpen{})
		}
		for _, q := range qs {
			b = amqpwire.AppendMethodFrame(b, probeChannel, &amqpwire.QueueDeclare{Queue: q.name, Passive: true})
		}
		p.write(b)
		for len(qs) > 0 {
			e := p.next()
			if e.kind == reply && e.channel == probeChannel {
				counts, there := strings.CutPrefix(e.text, fmt.Sprintf("queue.declare-ok queue=%q ", qs[0].name))
				switch {
				case strings.HasPrefix(e.text, "channel.open-ok"):
					continue
				case !there:
					counts = gone
				}
				news = qs[0].set(counts) || news
				qs = qs[1:]
				if !there {
					break
				}
				continue
			}
			news = true
			at := p.channel(e.channel)
			if e.kind == reply || e.kind == finished {
				at.async = append(at.async, e.text)
			}
			if e.kind == finished {
				p.over = true
			}
			if p.over {
				break
			}
		}
	}
	return news
}

// prober returns a connection for requests about queues that are not exclusive.
func (r *run) prober() *peer {
	for _, p := range r.sorted() {
		if p.loggedIn && !p.over {
			return p
		}
	}
	const label = "Z"
	p, err := dial(label, r.addr)
	if err != nil {
		return &peer{over: true}
	}
	p.login(nil)
	r.peers[label] = p
	return p
}

// declared records that a queue of this name exists or may exist.
func (r *run) declared(name string, owner *peer) {
	at := slices.IndexFunc(r.queues, func(q *probed) bool { return q.name == name })
	switch {
	case at < 0:
		r.queues = append(r.queues, &probed{name: name, owner: owner})
	case owner != nil:
		r.queues[at].owner = owner
	}
}

// sorted returns the connections ordered by label.
func (r *run) sorted() []*peer {
	peers := make([]*peer, 0, len(r.peers))
	for _, p := range r.peers {
		peers = append(peers, p)
	}
	slices.SortFunc(peers, func(a, b *peer) int { return strings.Compare(a.label, b.label) })
	return peers
}

// sorted returns the channels ordered by number.
func (p *peer) sorted() []uint16 {
	ids := make([]uint16, 0, len(p.channels))
	for id := range p.channels {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// clean deletes what the script has left behind.
func (r *run) clean() {
	p := r.prober()
	const channel = probeChannel - 1
	b := amqpwire.AppendMethodFrame(nil, channel, &amqpwire.ChannelOpen{})
	for _, q := range r.queues {
		if q.owner == nil {
			b = amqpwire.AppendMethodFrame(b, channel, &amqpwire.QueueDelete{Queue: q.name})
		}
	}
	for n := '1'; n <= '9'; n++ {
		b = amqpwire.AppendMethodFrame(b, channel, &amqpwire.ExchangeDelete{Exchange: "x" + string(n) + r.suffix})
	}
	p.write(amqpwire.AppendMethodFrame(b, 0, &amqpwire.ConnectionClose{ReplyCode: amqpcode.Success}))
	for e := (event{}); !p.over && e.kind != finished; {
		e = p.next()
	}
}
