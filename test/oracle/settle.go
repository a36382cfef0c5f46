package oracle

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"fiveways.dev/fiveways/internal/amqpcode"
	"fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"
)

// How a script waits until a broker has done all that a line caused, without knowing what that is
// and without sleeping.
//
// What a line causes runs through the broker from one queue or channel to the next, and each of
// them works in the order in which it is asked. So a round asks every channel something harmless
// (channel.flow) and every queue for its counts (a passive declare), and waits for the answers:
// what stood in front of a question is done when the answer is here, and what it caused stands
// somewhere in front of the next round's questions. Enough rounds follow one another until two in a
// row bring nothing new, no frame and no other count. Confirms are awaited by their number: each
// publish has one.
//
// RabbitMQ answers the question for counts with priority, out of turn, but the work is begun before
// the next one can come: three rounds at least make up for that.
const (
	leastRounds = 3
	quietRounds = 2
	mostRounds  = 200 // that bring something: a circle that never ends shows as a difference
)

// expiryTime is how long a message that lives for no time at all may be counted: Fiveways looks at
// its clock once in a millisecond, and again at a queue that comes to hold an expired message after
// five.
const expiryTime = 20 * time.Millisecond

// probeChannel is the channel of each connection on which queues are asked for their counts.
const probeChannel = 1999

// probed is a queue that the script has declared and what was last known of it.
type probed struct {
	name  string
	owner *peer  // of an exclusive queue
	now   string // its counts in this round
	shown string // and when they were last shown
}

// settle waits for the end of what was caused and notes it: for each connection and channel what
// came, then the queues that have changed.
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
					continue // while its channels ended one after another: clients cannot rely on it
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

// showQueues notes the counts that have changed and forgets queues that are gone.
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

// round asks everything once and reports whether there was anything new.
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

// askChannels sends a question to each open channel.
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

// gather reads until the questions are answered, or cannot be any more, and all publishes are
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

// unconfirmed reports whether answers to publishes are still to come.
func (p *peer) unconfirmed() bool {
	for _, ch := range p.channels {
		if ch.open && ch.confirming && len(ch.answered) < ch.published {
			return true
		}
	}
	return false
}

// askQueues asks each queue for its counts, on the connection of an exclusive queue or on any.
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

// set reports whether the counts are others than before.
func (q *probed) set(counts string) bool {
	changed := q.now != counts
	q.now = counts
	return changed
}

// probe asks for the counts of queues. One that is not there closes the channel, and the others are
// asked again.
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

// prober is a connection for questions about queues that belong to none.
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

// declared notes that there is, or may be, a queue of this name.
func (r *run) declared(name string, owner *peer) {
	at := slices.IndexFunc(r.queues, func(q *probed) bool { return q.name == name })
	switch {
	case at < 0:
		r.queues = append(r.queues, &probed{name: name, owner: owner})
	case owner != nil:
		r.queues[at].owner = owner
	}
}

// sorted returns the connections by their labels.
func (r *run) sorted() []*peer {
	peers := make([]*peer, 0, len(r.peers))
	for _, p := range r.peers {
		peers = append(peers, p)
	}
	slices.SortFunc(peers, func(a, b *peer) int { return strings.Compare(a.label, b.label) })
	return peers
}

// sorted returns the channels by their numbers.
func (p *peer) sorted() []uint16 {
	ids := make([]uint16, 0, len(p.channels))
	for id := range p.channels {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// clean removes what the script has left behind.
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
