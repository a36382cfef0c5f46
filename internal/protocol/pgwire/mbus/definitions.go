package mbus

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// component is the component name of the parameters of this package.
const component = "mbus"

// definitions holds what the virtual host's parameters define for SQL beyond the broker's own
// definitions.
type definitions struct {
	version uint64
	read    bool
	queues  map[string]queueDef // by name
	views   map[string]*viewDef // by "schema.name"
	runs    map[string]bool     // queues that have a run function
	copies  []trigger           // triggers, including those whose queues do not exist (yet)
	hidden  map[string]bool     // dropped by the open transaction: parameter names, and "consumer:" with an engine queue
	changes uint64              // the number of changes of hidden
}

// queueDef is a queue created by create_queue.
type queueDef struct {
	Consumers int    `json:"consumers_cnt"`
	Roles     bool   `json:"roles,omitempty"`
	Owner     string `json:"owner,omitempty"` // the user that created it

	text json.RawMessage // the value of its parameter
}

// Parameter names begin with their kind.
const (
	queueKind    = "queue:"
	viewKind     = "view:"
	runKind      = "run:"
	triggerKind  = "trigger:"  // src and dst, separated by a blank
	consumerKind = "consumer:" // only in hidden
)

// known returns the current definitions.
func (s *Session) known() *definitions {
	d := &s.defs
	if v := s.b.Version(s.vhost()); !d.read || v != d.version {
		d.load(s.b.Parameters(s.vhost(), component))
		d.version, d.read = v, true
	}
	return d
}

// load decodes the parameters. Queues that have not changed, usually nearly all, are kept.
func (d *definitions) load(parameters []catalog.Parameter) {
	before := d.queues
	d.queues, d.views, d.runs, d.copies = map[string]queueDef{}, map[string]*viewDef{}, map[string]bool{}, nil
	for _, p := range parameters {
		if name, ok := strings.CutPrefix(p.Name, queueKind); ok {
			q, ok := before[name]
			if !ok || !bytes.Equal(q.text, p.Value) {
				q = queueDef{text: p.Value}
				ok = json.Unmarshal(p.Value, &q) == nil
			}
			if ok {
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

// set sets a parameter.
func (s *Session) set(name string, v any) error {
	d := s.edit()
	d.setParameter(name, v)
	return d.make()
}

// hide hides from the session what it will drop when it commits.
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

// again allows an object to be created again after it was dropped in the same transaction. Drops
// take effect at the commit, so again commits what the statements of a simple query have done so
// far. In an explicit transaction block, it returns an error instead.
func (s *Session) again(ctx context.Context, name, what string) error {
	if !s.hidden(name) {
		return nil
	}
	if s.InBlock == nil || s.InBlock() || s.running {
		return pgerror.New(pgerror.FeatureNotSupported, "%s was dropped in this transaction", what).
			WithHint("Commit before it is made again.")
	}
	return s.Commit(ctx)
}

func (s *Session) hidden(name string) bool { return len(s.defs.hidden) > 0 && s.defs.hidden[name] }

// version returns a number that changes with the set of functions and views.
func (s *Session) version() uint64 { return s.b.Version(s.vhost()) + s.defs.changes<<40 }

// sqlQueues returns the names of the queues created by create_queue.
func (s *Session) sqlQueues() []string {
	names := slices.Sorted(maps.Keys(s.known().queues))
	return slices.DeleteFunc(names, func(n string) bool { return s.hidden(queueKind + n) })
}

// sqlQueue returns a queue created by create_queue.
func (s *Session) sqlQueue(name string) (queueDef, bool) {
	q, ok := s.known().queues[name]
	return q, ok && !s.hidden(queueKind+name)
}

// isQueue reports whether messages can be posted to and consumed from a queue of this name, which
// may be any engine queue.
func (s *Session) isQueue(name string) bool { return s.own.HasQueue(name) && !s.hidden(queueKind+name) }

// defaultConsumer is the consumer that every queue has.
const defaultConsumer = "default"

// consumerQueue returns the engine queue that a consumer reads.
func consumerQueue(queueName, consumer string) string {
	if consumer == defaultConsumer {
		return queueName
	}
	return queueName + "." + consumer
}

// isConsumer reports whether an existing queue has a consumer of this name.
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
	selector string // "" matches all messages
}

// subscribers returns the consumers of a queue, default first.
func (s *Session) subscribers(queueName string) []subscriber {
	all := []subscriber{{name: defaultConsumer}}
	for _, b := range s.own.BindingsFrom(queueName) {
		name, ok := strings.CutPrefix(b.Destination, queueName+".")
		if b.ToExchange || !ok || isTemporary(b.Destination) || s.hidden(consumerKind+b.Destination) {
			continue
		}
		text, _ := b.Args.Get(selectorArg)
		selector, _ := text.(string)
		all = append(all, subscriber{name, selector})
	}
	return all
}

// trigger copies what is posted to one queue into another. A trigger to a temporary queue consists
// of a binding only, without a parameter.
type trigger struct {
	Src      string `json:"-"`
	Dst      string `json:"-"`
	Selector string `json:"selector,omitempty"` // "" matches all messages
}

// triggers returns the triggers of the virtual host.
func (s *Session) triggers() (all []trigger) {
	for _, t := range s.known().copies {
		if !s.hidden(triggerName(t.Src, t.Dst)) {
			all = append(all, t)
		}
	}
	for _, b := range s.own.BindingsWith(triggerArg) {
		if isTemporary(b.Destination) {
			text, _ := b.Args.Get(selectorArg)
			selector, _ := text.(string)
			all = append(all, trigger{b.Source, b.Destination, selector})
		}
	}
	return all
}

// triggerName returns the parameter name of a trigger.
func triggerName(src, dst string) string { return triggerKind + src + " " + dst }
