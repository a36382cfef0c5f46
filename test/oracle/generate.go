package oracle

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// generator generates a script line by line while RabbitMQ plays it. It uses the answers so far
// only to make meaningful lines, such as one with an outstanding delivery tag. Every line is
// complete and can be played again without the generator.
//
// RabbitMQ leaves some orders open, and then the results may differ without a meaning. The
// generator avoids these cases:
//
//   - A channel consumes from one queue only, its home: deliveries from two queues to one channel,
//     and so the delivery tags, come in any order.
//   - At most one consumer of a queue, or basic.get, has unsettled messages on a channel: RabbitMQ
//     requeues and rejects the messages of one consumer after those of the other.
//   - Dead letters stay in their chain, such as q1 to q4 to q7: if a message went to two queues,
//     one of which dead-letters it to the other, the latter would get the copies in any order.
//   - Direct replies have their own channels: RabbitMQ reuses their delivery tag for the next
//     delivery.
//   - Transactions have their own channel, without a prefetch limit for the whole channel: in
//     RabbitMQ an uncommitted ack counts for a limit set before it, and not for one set later.
//   - Limits for a whole channel have their own channel too, without consumers that need no acks:
//     RabbitMQ delivers nothing to such a consumer if it is added while the limit is used up.
//   - A transaction publishes to the default exchange only if the queues exist: RabbitMQ looks up
//     the queues in CC at the commit, Fiveways at once.
//   - If messages of a script expire at once, all do, since RabbitMQ looks only at the head of a
//     queue. In such a script each queue has one consumer, because it is open whether an expired
//     message that is requeued counts as a consumer's turn. And clients do not publish to the
//     dead-letter queues, whose messages live on.
type generator struct {
	*rand.Rand
	r       *run
	home    map[string]string // the queue that a channel consumes from
	args    map[string]string // what a queue is declared with, mostly
	instant bool              // messages of this script have the expiration 0
	small   bool              // its connections have small frames
	bodies  int
	planned []string // lines that belong together
}

// The names of a script: where clients publish to and consume from, and the two steps of their dead
// letters.
var (
	liveQueues    = []string{"q1", "q2", "q3"}
	allQueues     = []string{"q1", "q2", "q3", "q4", "q5", "q6", "q7", "q8", "q9"}
	liveExchanges = []string{"x1", "x2", "x3"}
	deadExchanges = []string{"x4", "x5", "x6", "x7", "x8", "x9"}
	routingKeys   = []string{"k", "a.b", "a.b.c", "a", `""`, "q1", "q2", "b"}
	exchangeTypes = []string{"direct", "fanout", "topic", "headers"}
)

func newGenerator(seed uint64, r *run) *generator {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0)), r: r, home: map[string]string{}, args: map[string]string{}}
	g.instant = g.chance(10)
	g.small = g.chance(10)
	for _, q := range allQueues {
		g.args[q] = g.queueArgs(q)
	}
	g.planned = append(g.planned, "settle")
	if g.small {
		g.planned = []string{"login frame-max=4096", "settle"}
	}
	for _, q := range liveQueues {
		g.planned = append(g.planned, g.declareQueue(q, g.args[q]))
	}
	for _, x := range liveExchanges[:2] {
		g.planned = append(g.planned, g.declareExchange(x), g.bindQueueTo(x), g.bindQueueTo(x))
	}
	return g
}

// operation is a kind of line with its relative frequency.
type operation struct {
	weight int
	line   func(g *generator) string
}

// next generates a line.
func (g *generator) next() string {
	if len(g.planned) > 0 {
		line := g.planned[0]
		g.planned = g.planned[1:]
		return line
	}
	total := 0
	for _, o := range operations {
		total += o.weight
	}
	n := g.IntN(total)
	for _, o := range operations {
		if n -= o.weight; n < 0 {
			return o.line(g)
		}
	}
	panic("unreachable: n is below the sum of the weights")
}

// chance returns true with a probability of percent.
func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

func pick[T any](g *generator, from []T) T { return from[g.IntN(len(from))] }

// sometimes returns the word with a probability of percent, otherwise "".
func (g *generator) sometimes(percent int, word string) string {
	if g.chance(percent) {
		return " " + word
	}
	return ""
}

// words joins the parts that are not empty.
func words(parts ...string) string {
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return strings.Join(parts, " ")
}

// at prefixes a line with a connection and a channel.
func at(where, line string) string {
	if where == "A1" {
		return line
	}
	return where + ": " + line
}

var places = []string{"A1", "A1", "A1", "A2", "A3", "B1", "B1", "B2", "C1"}

func (g *generator) place() string { return pick(g, places) }

// anywhere returns a line for a random connection and channel.
func (g *generator) anywhere(parts ...string) string { return at(g.place(), words(parts...)) }

// homeOf returns the queue that a channel consumes from.
func (g *generator) homeOf(place string) string {
	if g.home[place] == "" && g.instant {
		g.home[place] = map[string]string{"A1": "q1", "A2": "q2", "A3": "q4", "B1": "q3", "B2": "q5", "C1": "q7"}[place]
	}
	if g.home[place] == "" {
		g.home[place] = pick(g, []string{"q1", "q1", "q2", "q2", "q3", "q4", "q5", "q7"})
	}
	return g.home[place]
}

func (g *generator) liveQueue() string { return pick(g, liveQueues) }

// someQueue returns a queue, mostly one that is in use.
func (g *generator) someQueue() string {
	if g.chance(75) {
		return g.liveQueue()
	}
	return pick(g, allQueues)
}

func (g *generator) body() string {
	g.bodies++
	return fmt.Sprintf("m%d", g.bodies)
}

// channel returns the state of a channel.
func (g *generator) channel(place string) *peerChannel {
	p := g.r.peers[place[:1]]
	if p == nil {
		return nil
	}
	return p.channels[uint16(place[1]-'0')]
}
