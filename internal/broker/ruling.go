package broker

import (
	"sync"

	"fiveways/internal/core/message"
	"fiveways/internal/core/routing"
)

// Policies make rules for queues and exchanges of the parameters of their virtual host. What a rule changes must be true again after each
// start, so nothing that happens is decided by rules when the log is replayed: the facts say what came of them.
type Policies interface {
	// Component tells whether the parameters of a component are policies.
	Component(name string) bool
	// Compile makes the rules of a virtual host. What cannot be used is left out.
	Compile(policies []Parameter) Rules
}

// Rules are the policies of one virtual host. They never change and are asked from many goroutines.
type Rules interface {
	// Queue is what counts for a queue with these arguments. What gives a queue its structure, from MaxPriority to DedupTTL, stays as declared.
	Queue(name string, args message.Table, declared QueuePolicy) Ruling
	// Exchange is the alternate exchange that policies give an exchange, "" none. The exchange's own argument wins.
	Exchange(name string) (alternate string, applied Applied)
}

// Applied names the policies that count for a queue or an exchange.
type Applied struct {
	Policy         string // "" none
	OperatorPolicy string // "" none
	Definition     string // what both say together, a JSON object; "" when there is none
}

// Ruling is what counts for a queue: its declaration, and policies.
type Ruling struct {
	QueuePolicy
	Applied
	Rates
}

// Policy is what counts for the queue now. Any goroutine may ask.
func (q *Queue) Policy() *QueuePolicy {
	if r := q.ruling.Load(); r != nil {
		return &r.QueuePolicy
	}
	return &q.Declared
}

// Ruling is Policy with all that policies say.
func (q *Queue) Ruling() Ruling {
	if r := q.ruling.Load(); r != nil {
		return *r
	}
	return Ruling{QueuePolicy: q.Declared}
}

// ruled asks the policies about the queue; nil: its declaration counts. catalog.mu is held, or nobody else runs.
func (q *Queue) ruled() *Ruling {
	rules := q.vhost.rules()
	if rules == nil || q.relay != nil {
		return nil
	}
	r := rules.Queue(q.Name, q.Args, q.Declared)
	r.keepStructure(&q.Declared)
	return &r
}

// keepStructure takes back what no policy can change, for the state of the queue is built on it.
func (p *QueuePolicy) keepStructure(declared *QueuePolicy) {
	p.MaxPriority = declared.MaxPriority
	p.SingleActive, p.ActiveByRank = declared.SingleActive, declared.ActiveByRank
	p.GroupHeader, p.ConsumeAfter, p.Unawaited = declared.GroupHeader, declared.ConsumeAfter, declared.Unawaited
	p.Deduplicate, p.DedupHeader = declared.Deduplicate, declared.DedupHeader
	p.DedupEntries, p.DedupTTL = declared.DedupEntries, declared.DedupTTL
}

// rules are the policies of the virtual host, nil when it has none.
func (v *VHost) rules() Rules {
	if r := v.policies.Load(); r != nil {
		return *r
	}
	return nil
}

// ExchangePolicy names the policies that count for an exchange of the session's virtual host.
func (s *Session) ExchangePolicy(name string) Applied {
	rules := s.vhost.rules()
	if rules == nil || name == "" {
		return Applied{}
	}
	_, applied := rules.Exchange(name)
	return applied
}

// isPolicy tells whether parameters of a component are policies.
func (c *catalog) isPolicy(component string) bool {
	return c.b.opts.Policies != nil && c.b.opts.Policies.Component(component)
}

// compile makes the rules of a virtual host. mu is held, or nobody else runs.
func (c *catalog) compile(v *VHost) {
	var policies []Parameter
	for k, value := range v.parameters.values {
		if c.isPolicy(k.component) {
			policies = append(policies, Parameter{v.Name, k.component, k.name, value})
		}
	}
	if len(policies) == 0 {
		v.policies.Store(nil)
		return
	}
	rules := c.b.opts.Policies.Compile(policies)
	v.policies.Store(&rules)
}

// compileAll makes the rules count that the definitions say, when nobody else runs.
func (c *catalog) compileAll() {
	for _, v := range c.sortedVHosts() {
		c.compile(v)
		c.redirect(v)
	}
	c.queues.Range(func(_, v any) bool {
		q := v.(*Queue)
		q.rule(q.ruled())
		return true
	})
}

// enforce makes changed policies of a virtual host count. mu is held, and the change is appended to the log: what follows from it comes later there.
// What it returns is done when the shards of its queues have heard of it.
func (c *catalog) enforce(v *VHost) *sync.WaitGroup {
	c.compile(v)
	c.redirect(v)
	type governed struct {
		q *Queue
		r *Ruling
	}
	rulings := map[*shard][]governed{}
	for _, id := range v.table.Load().Queues() {
		q, ok := c.b.queueByID(uint64(id))
		if ok {
			rulings[q.shard] = append(rulings[q.shard], governed{q, q.ruled()})
		}
	}
	var heard sync.WaitGroup
	for sh, rulings := range rulings {
		heard.Add(1)
		sent := sh.inbox.push([]op{{kind: opCall, extra: func() {
			defer heard.Done()
			for _, g := range rulings {
				sh.govern(g.q, g.r)
			}
		}}}, false)
		if !sent { // the broker is closed
			heard.Done()
		}
	}
	return &heard
}

// redirect gives exchanges the alternate exchanges that policies say. mu is held, or nobody else runs.
func (c *catalog) redirect(v *VHost) {
	before := v.table.Load()
	t := before
	for x := range before.Exchanges() {
		t = v.withAlternate(t, x.Spec.Name)
	}
	if t != before {
		v.table.Store(t)
	}
}

// withAlternate is the table in which an exchange has the alternate that policies give it.
func (v *VHost) withAlternate(t *routing.Table, exchange string) *routing.Table {
	alternate := ""
	if rules := v.rules(); rules != nil && exchange != "" {
		alternate, _ = rules.Exchange(exchange)
	}
	if next, err := t.SetPolicyAlternate(exchange, alternate); err == nil {
		return next
	}
	return t
}

// govern makes a ruling count for a queue, or with nil its declaration: from now on, and for the length of what it holds. Messages keep the time to live that they got when
// they came.
func (sh *shard) govern(q *Queue, r *Ruling) {
	before := q.Ruling()
	q.rule(r)
	after := q.Ruling()
	if q.gone || before == after {
		return
	}
	q.promise = after.Sync.wait(sh.b.opts.Sync)
	if after.Expires != before.Expires {
		q.used(sh.now) // its time begins now
	}
	if q.dead != nil {
		q.dead.hasten() // there may be another way to go
	}
	sh.dispatch(q) // what a waiting consumer can take goes out first
	sh.shrink(q)
	sh.mark(q)
}

// shrinkStep is how many messages a shard drops before it looks at its other queues.
const shrinkStep = 4096

// shrink drops what is more than a limit that came later, a part at a time: the rest follows when the queue is next looked at.
func (sh *shard) shrink(q *Queue) {
	p := q.Policy()
	q.shrinking = false
	if p.Overflow != DropHead {
		return
	}
	for n := 0; p.exceededBy(q.state); n++ {
		if n == shrinkStep || sh.deadBytes >= maxDeadBytes || sh.b.resting.Load() {
			q.shrinking = true
			return
		}
		it := sh.oldest(q)
		if it == nil {
			return
		}
		sh.bury(q, it.Handle, reasonMaxLength)
		sh.doLocal()
		if len(sh.entry.data) >= entryBytes {
			sh.propose()
		}
	}
}
