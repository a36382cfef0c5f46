package routing

import (
	"cmp"
	"encoding/binary"
	"iter"
	"slices"
	"strings"

	"github.com/tidwall/btree"

	"fiveways.dev/fiveways/internal/core/message"
)

// QueueID identifies a queue forever. A queue declared again under an old name gets a new ID.
type QueueID uint64

// Destination is a queue or, if Exchange is not empty, an exchange.
type Destination struct {
	Queue    QueueID
	Exchange string
}

func (d Destination) appendKey(key []byte) []byte {
	if d.Exchange != "" {
		return appendPart(append(key, 'e'), d.Exchange)
	}
	return binary.BigEndian.AppendUint64(append(key, 'q'), uint64(d.Queue))
}

// Binding routes messages from an exchange to a queue, or to the exchange ToExchange if that is not
// empty. Source, destination, key and arguments together identify it. Arguments are equal if they
// have the same names, types and values in any order. The arguments x-selector (package selector),
// x-sql-selector and x-sql-trigger (Conditions) are conditions that a message must meet in addition
// to the exchange's type.
type Binding struct {
	Source     string
	ToQueue    QueueID
	ToExchange string
	Key        string
	Args       message.Table

	condition *condition // nil: none. Invariant: bindings of one exchange with the same texts share it.
}

// Destination returns where the binding leads.
func (b *Binding) Destination() Destination {
	if b.ToExchange != "" {
		return Destination{Exchange: b.ToExchange}
	}
	return Destination{Queue: b.ToQueue}
}

// appendPart appends s so that no part is a prefix of another and key ranges do not overlap.
func appendPart(key []byte, s string) []byte {
	return append(binary.AppendUvarint(key, uint64(len(s))), s...)
}

func (b *Binding) appendTail(key []byte) []byte {
	key = appendPart(key, b.Key)
	if len(b.Args) == 0 {
		return key
	}
	sorted := slices.Clone(b.Args)
	slices.SortStableFunc(sorted, func(x, y message.Field) int { return cmp.Compare(x.Name, y.Name) })
	return message.AppendTable(key, sorted)
}

func (b *Binding) sourceKey() string {
	return string(b.appendTail(b.Destination().appendKey(appendPart(nil, b.Source))))
}

func (b *Binding) destKey() string {
	return string(b.appendTail(appendPart(b.Destination().appendKey(nil), b.Source)))
}

// siblings are the bindings with the same source, destination and condition as b, except b itself.
type siblings struct {
	index *btree.Map[string, *Binding] // bySource, without b
	b     *Binding
}

func (s siblings) prefix() []byte { return s.b.Destination().appendKey(appendPart(nil, s.b.Source)) }

func (s siblings) exist() bool { return anyOf(s.all()) }

func (s siblings) existWithKey() bool { return anyOf(s.in(appendPart(s.prefix(), s.b.Key))) }

func (s siblings) all() iter.Seq[*Binding] { return s.in(s.prefix()) }

func (s siblings) in(prefix []byte) iter.Seq[*Binding] {
	return func(yield func(*Binding) bool) {
		for other := range in(s.index, prefix) {
			if other.condition == s.b.condition && !yield(other) {
				return
			}
		}
	}
}

// in yields the bindings whose key in the index has the prefix.
func in(index *btree.Map[string, *Binding], prefix []byte) iter.Seq[*Binding] {
	return func(yield func(*Binding) bool) {
		p := string(prefix)
		index.Ascend(p, func(key string, b *Binding) bool { return strings.HasPrefix(key, p) && yield(b) })
	}
}

func anyOf(bindings iter.Seq[*Binding]) bool {
	for range bindings {
		return true
	}
	return false
}

func collect(index *btree.Map[string, *Binding], prefix []byte) []*Binding {
	return slices.Collect(in(index, prefix))
}

// Bind adds a binding. added is false, and the table unchanged, if it exists already. The caller
// must have checked that the queue exists, and must not change b.Args afterwards. Errors:
// ErrDefaultExchange, ErrNoExchange (its Exchange is the missing one), ErrInvalidBinding.
func (t *Table) Bind(b Binding) (next *Table, added bool, err error) { return t.bind(b, true) }

// Rebind is Bind for a binding that was accepted before: if its condition cannot be compiled now,
// it is kept and matches nothing.
func (t *Table) Rebind(b Binding) (next *Table, added bool, err error) { return t.bind(b, false) }

func (t *Table) bind(b Binding, strict bool) (next *Table, added bool, err error) {
	x, err := t.ends(&b)
	if err != nil {
		return t, false, err
	}
	if err := x.matcher.check(&b); err != nil {
		return t, false, err
	}
	if b.condition, err = t.conditionOf(x, &b); err != nil && strict {
		return t, false, err
	}
	sourceKey := b.sourceKey()
	if _, dup := t.bySource.Get(sourceKey); dup {
		return t, false, nil
	}
	next = t.edit()
	changed := *x
	changed.add(&b, siblings{t.bySource, &b})
	next.exchanges.Set(b.Source, &changed)
	next.bySource.Set(sourceKey, &b)
	next.byDest.Set(b.destKey(), &b)
	return next, true, nil
}

// ends checks both ends of a binding and returns its source.
func (t *Table) ends(b *Binding) (*Exchange, error) {
	if b.Source == "" || (b.ToExchange == "" && b.ToQueue == 0) {
		return nil, &Error{Kind: ErrDefaultExchange}
	}
	x, ok := t.exchanges.Get(b.Source)
	if !ok {
		return nil, &Error{Kind: ErrNoExchange, Exchange: b.Source}
	}
	if b.ToExchange != "" {
		if _, ok := t.exchanges.Get(b.ToExchange); !ok {
			return nil, &Error{Kind: ErrNoExchange, Exchange: b.ToExchange}
		}
	}
	return x, nil
}

// Unbind removes a binding. removed is false, and the table unchanged, if it does not exist.
func (t *Table) Unbind(b Binding) (next *Table, removed bool) {
	found, ok := t.bySource.Get(b.sourceKey())
	if !ok {
		return t, false
	}
	next = t.edit()
	next.drop(found)
	return next, true
}

// drop removes a binding in place, in a table that is not published yet.
func (t *Table) drop(b *Binding) {
	t.bySource.Delete(b.sourceKey())
	t.byDest.Delete(b.destKey())
	x, _ := t.exchanges.Get(b.Source)
	changed := *x
	changed.remove(b, siblings{t.bySource, b})
	t.exchanges.Set(b.Source, &changed)
}

// dropDestination removes all bindings to a destination in place and returns them.
func (t *Table) dropDestination(d Destination) []Binding {
	var removed []Binding
	for _, b := range collect(t.byDest, d.appendKey(nil)) {
		t.drop(b)
		removed = append(removed, *b)
	}
	return removed
}

// Bindings yields all bindings, grouped by source and within it by destination.
func (t *Table) Bindings() iter.Seq[Binding] { return values(in(t.bySource, nil)) }

// BindingsFrom yields the bindings whose source is the exchange.
func (t *Table) BindingsFrom(source string) iter.Seq[Binding] {
	return values(in(t.bySource, appendPart(nil, source)))
}

// BindingsTo yields the bindings that lead to d.
func (t *Table) BindingsTo(d Destination) iter.Seq[Binding] {
	return values(in(t.byDest, d.appendKey(nil)))
}

func values(pointers iter.Seq[*Binding]) iter.Seq[Binding] {
	return func(yield func(Binding) bool) {
		for b := range pointers {
			if !yield(*b) {
				return
			}
		}
	}
}
