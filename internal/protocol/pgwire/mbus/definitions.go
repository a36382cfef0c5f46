package mbus

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// component is whose parameters these are.
const component = "mbus"

// definitions are what the parameters of the virtual host say of SQL: what the broker's own
// definitions do not.
type definitions struct {
	version uint64
	read    bool
	queues  map[string]queueDef // by name
	views   map[string]*viewDef // by "schema.name"
	runs    map[string]bool     // queues that have a run function
	copies  []trigger           // triggers, those too whose queues are not there (yet)
	hidden  map[string]bool     // dropped by the open transaction: names of parameters, and "consumer:" with a queue of the engine
	changes uint64              // how often hidden changed
}

// queueDef is a queue that create_queue made.
type queueDef struct {
	Consumers int    `json:"consumers_cnt"`
	Roles     bool   `json:"roles,omitempty"`
	Owner     string `json:"owner,omitempty"` // the user that created it
}

// The names of parameters begin with their kind.
const (
	queueKind    = "queue:"
	viewKind     = "view:"
	runKind      = "run:"
	triggerKind  = "trigger:"  // src and dst, with a blank between
	consumerKind = "consumer:" // only in hidden
)

// known returns the definitions as they are now.
func (s *Session) known() *definitions {
	d := &s.defs
	if v := s.b.Version(s.vhost()); !d.read || v != d.version {
		d.load(s.b.Parameters(s.vhost(), component))
		d.version, d.read = v, true
	}
	return d
}

func (d *definitions) load(parameters []catalog.Parameter) {
	d.queues, d.views, d.runs, d.copies = map[string]queueDef{}, map[string]*viewDef{}, map[string]bool{}, nil
	for _, p := range parameters {
		if name, ok := strings.CutPrefix(p.Name, queueKind); ok {
			var q queueDef
			if json.Unmarshal(p.Value, &q) == nil {
				d.queues[name] = q
			}
		}
		if name, ok := strings.CutPrefix(p.Name, viewKind); ok {
			v := &viewDef{}
			if json.Unmarshal(p.Value, v) == nil {
				v.name = name
				d.views[name] = v
			}
		}
		if name, ok := strings.CutPrefix(p.Name, runKind); ok {
			d.runs[name] = true
		}
		if name, ok := strings.CutPrefix(p.Name, triggerKind); ok {
			var t trigger
			if json.Unmarshal(p.Value, &t) == nil {
				t.Src, t.Dst, _ = strings.Cut(name, " ")
				d.copies = append(d.copies, t)
			}
		}
	}
}

// set makes a parameter.
func (s *Session) set(name string, v any) error {
	d := s.edit()
	d.setParameter(name, v)
	return d.make()
}

// hide has the session not see any more what it will drop when it commits.
func (s *Session) hide(names []string, drop func() error) {
	d := s.known()
	if d.hidden == nil {
		d.hidden = map[string]bool{}
	}
	for _, n := range names {
		d.hidden[n] = true
	}
	d.changes++
	show := func() {
		for _, n := range names {
			delete(d.hidden, n)
		}
		d.changes++
	}
	s.change(step{undo: show, commit: func() error { show(); return s.failed(drop()) }})
}

// again makes room for what is made anew after it was dropped in the same transaction. Drops happen
// at the end, so what the statements of a simple query have done so far is committed then; a block
// that its client ends is left to it.
func (s *Session) again(name, what string) error {
	if !s.hidden(name) {
		return nil
	}
	if s.InBlock == nil || s.InBlock() || s.running {
		return pgerror.New(pgerror.FeatureNotSupported, "%s was dropped in this transaction", what).
			WithHint("Commit before it is made again.")
	}
	return s.Commit()
}

func (s *Session) hidden(name string) bool { return len(s.defs.hidden) > 0 && s.defs.hidden[name] }

// version changes with everything that decides which functions and views there are.
func (s *Session) version() uint64 { return s.b.Version(s.vhost()) + s.defs.changes<<40 }

// sqlQueues are the names of the queues that create_queue made.
func (s *Session) sqlQueues() []string {
	names := slices.Sorted(maps.Keys(s.known().queues))
	return slices.DeleteFunc(names, func(n string) bool { return s.hidden(queueKind + n) })
}

// sqlQueue returns a queue that create_queue made.
func (s *Session) sqlQueue(name string) (queueDef, bool) {
	q, ok := s.known().queues[name]
	return q, ok && !s.hidden(queueKind+name)
}

// isQueue reports whether messages can be posted to and consumed from a queue of this name: any
// queue of the engine will do.
func (s *Session) isQueue(name string) bool { return s.own.HasQueue(name) && !s.hidden(queueKind+name) }

// defaultConsumer is the consumer that every queue has.
const defaultConsumer = "default"

// consumerQueue is the queue of the engine that a consumer reads.
func consumerQueue(queueName, consumer string) string {
	if consumer == defaultConsumer {
		return queueName
	}
	return queueName + "." + consumer
}

// isConsumer reports whether a queue that is there has a consumer of this name.
func (s *Session) isConsumer(queueName, consumer string) bool {
	if consumer == defaultConsumer {
		return true
	}
	name := consumerQueue(queueName, consumer)
	return s.own.HasQueue(name) && s.own.HasExchange(queueName) && !s.hidden(consumerKind+name)
}

// subscriber is a consumer of a queue.
type subscriber struct {
	name     string
	selector string // "" is all
}

// subscribers are the consumers of a queue, default first.
func (s *Session) subscribers(queueName string) []subscriber {
	all := []subscriber{{name: defaultConsumer}}
	for _, b := range s.own.ListBindings() {
		name, ok := strings.CutPrefix(b.Destination, queueName+".")
		if b.Source != queueName || b.ToExchange || !ok || isTemporary(b.Destination) || s.hidden(consumerKind+b.Destination) {
			continue
		}
		text, _ := b.Args.Get(selectorArg)
		selector, _ := text.(string)
		all = append(all, subscriber{name, selector})
	}
	return all
}

// trigger copies what is posted to a queue into another. Those to temporary queues are bindings and
// nothing else.
type trigger struct {
	Src      string `json:"-"`
	Dst      string `json:"-"`
	Selector string `json:"selector,omitempty"` // "" is all
}

// triggers are those of the virtual host.
func (s *Session) triggers() (all []trigger) {
	for _, t := range s.known().copies {
		if !s.hidden(triggerName(t.Src, t.Dst)) {
			all = append(all, t)
		}
	}
	for _, b := range s.own.ListBindings() {
		if _, ok := b.Args.Get(triggerArg); ok && isTemporary(b.Destination) {
			text, _ := b.Args.Get(selectorArg)
			selector, _ := text.(string)
			all = append(all, trigger{b.Source, b.Destination, selector})
		}
	}
	return all
}

// triggerName is the parameter of a trigger.
func triggerName(src, dst string) string { return triggerKind + src + " " + dst }
