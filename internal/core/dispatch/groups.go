package dispatch

import (
	"crypto/sha256"
	"strconv"

	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
)

// group is the messages with one value of the queue's group header. While some of them are
// unsettled, only their consumer gets more of them.
type group struct {
	name    string
	out     int
	holder  *Consumer // the consumer that holds the group; nil: none, or a Get
	classes []*class  // with set-aside messages
}

// longestGroup is the length of the longest value that is stored unhashed.
const longestGroup = 64

// groupName reads the group of a message. A number counts as its text; values without an obvious
// text name no group.
func groupName(env message.Envelope, header string) (string, bool) {
	peek, err := message.PeekProperties(env.Properties())
	if err != nil {
		return "", false
	}
	v, _ := message.HeaderLookup(peek.Headers, header)
	name := ""
	switch v := v.(type) {
	case string:
		name = v
	case message.Bytes:
		name = string(v)
	case bool:
		name = strconv.FormatBool(v)
	case float32:
		name = strconv.FormatFloat(float64(v), 'g', -1, 32)
	case float64:
		name = strconv.FormatFloat(v, 'g', -1, 64)
	case message.Timestamp:
		name = strconv.FormatUint(uint64(v), 10)
	default:
		n, ok := message.Int(v)
		if !ok {
			return "", false
		}
		name = strconv.FormatInt(n, 10)
	}
	if len(name) > longestGroup {
		sum := sha256.Sum256([]byte(name))
		name = string(sum[:])
	}
	return name, true
}

// sort returns the group of a message, nil for none, and the pool of the consumers that may get it
// unless the group is held. The caller tidies the group.
func (p *Selective) sort(env message.Envelope) (*group, *pool) {
	return p.groupOf(env), p.setOf(env)
}

func (p *Selective) groupOf(env message.Envelope) *group {
	if p.header == "" {
		return nil
	}
	name, ok := groupName(env, p.header)
	if !ok {
		return nil
	}
	g := p.groups[name]
	if g == nil {
		g = &group{name: name}
		p.groups[name] = g
	}
	return g
}

// classOf returns the class of a group and a set, or nil if none of its messages is set aside.
func (p *Selective) classOf(g *group, set *pool) *class {
	if g == nil {
		return set.plain
	}
	for _, cl := range g.classes {
		if cl.set == set {
			return cl
		}
	}
	return nil
}

// behind reports whether an earlier message of the same class as h is set aside.
func (p *Selective) behind(g *group, set *pool, h queue.Handle) bool {
	cl := p.classOf(g, set)
	return cl != nil && cl.parked[0] < queue.PlaceOf(h)
}

// takers returns the pool of the consumers that may get a message now, or nil if none may.
func (p *Selective) takers(g *group, set *pool) *pool {
	switch {
	case g == nil || g.out == 0:
		return set
	case g.holder == nil || g.holder.gone || !set.admits(g.holder):
		return nil
	}
	if g.holder.held == nil {
		g.holder.held = &pool{holder: g.holder}
	}
	return g.holder.held
}

// settle moves a class to the pool where it now belongs.
func (p *Selective) settle(cl *class) { p.move(cl, p.takers(cl.group, cl.set)) }

// hold records that a message of a group was delivered to a consumer or, if c is nil, by a Get.
func (p *Selective) hold(g *group, c *Consumer, h queue.Handle) {
	if g == nil {
		return
	}
	p.out[h] = g
	if g.out++; g.out == 1 {
		g.holder = c
		g.resettle(p)
	}
}

// Release records that n contiguous messages are no longer unsettled.
func (p *Selective) Release(h queue.Handle, n int) {
	if len(p.out) == 0 {
		return
	}
	for i := range queue.Handle(n) {
		g := p.out[h+i]
		if g == nil {
			continue
		}
		delete(p.out, h+i)
		if g.out--; g.out == 0 {
			g.holder = nil
			g.resettle(p)
			p.tidy(g)
		}
	}
}

// held reports whether messages of the group are unsettled. It is false for nil, which means no
// group.
func (g *group) held() bool { return g != nil && g.out > 0 }

// resettle moves the classes of a group where they belong after its holder has changed.
func (g *group) resettle(p *Selective) {
	for _, cl := range g.classes {
		p.settle(cl)
	}
}

func (g *group) remove(cl *class) {
	for i, have := range g.classes {
		if have == cl {
			n := len(g.classes) - 1
			g.classes[i], g.classes[n] = g.classes[n], nil
			g.classes = g.classes[:n]
			return
		}
	}
}

// tidy drops a group without unsettled or set-aside messages.
func (p *Selective) tidy(g *group) {
	if g != nil && g.out == 0 && len(g.classes) == 0 {
		delete(p.groups, g.name)
	}
}

// Left is called when a consumer was removed: the groups that it holds wait until its deliveries
// are settled.
func (p *Selective) Left(c *Consumer) {
	if c.held == nil {
		return
	}
	for len(c.held.classes) > 0 {
		p.move(c.held.classes[0], nil)
	}
	c.held = nil
}
