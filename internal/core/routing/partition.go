package routing

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
)

// partition routes each message to exactly one of its destinations.
//
// The destinations are ordered by queue id and then exchange name, not in the order of binding, so
// that a table rebuilt from a listing routes every key to the same destination.
type partition struct {
	weighted bool // the binding key is a weight; otherwise each destination weighs 1
	pick     func(m *Message, r *Route, total uint64) uint64
	slots    []slot
}

// slot is a destination and its buckets: those from the end of the previous slot up to end.
type slot struct {
	to  Destination
	end uint64
}

func (p partition) check(b *Binding) error {
	if !p.weighted {
		return nil
	}
	_, err := weight(b)
	return err
}

// weight parses the binding key of a consistent-hash exchange. It rejects numbers of more than 31
// bits, so that sums cannot overflow.
func weight(b *Binding) (uint64, error) {
	w, err := strconv.ParseInt(b.Key, 10, 32)
	switch {
	case err != nil:
		term := `<<>>` // the key in Erlang's notation
		if b.Key != "" {
			term = `<<"` + b.Key + `">>`
		}
		return 0, &Error{ErrInvalidBinding, b.Source, "The binding key must be an integer: " + term}
	case w < 1:
		return 0, &Error{ErrInvalidBinding, b.Source, "The binding key must be greater than 0"}
	}
	return uint64(w), nil
}

func (p partition) add(b *Binding, others siblings) matcher {
	return p.set(b.Destination(), p.share(b, others))
}

func (p partition) remove(b *Binding, others siblings) matcher {
	return p.set(b.Destination(), p.share(nil, others))
}

// share returns the number of buckets of a destination: the weight of its lightest binding, so that
// it does not depend on the order of binding; 0 without bindings.
func (p partition) share(b *Binding, others siblings) uint64 {
	var least uint64
	lighter := func(b *Binding) {
		w := uint64(1)
		if p.weighted {
			w, _ = weight(b) // checked when it was bound
		}
		if least == 0 || w < least {
			least = w
		}
	}
	if b != nil {
		lighter(b)
	}
	for other := range others.all() {
		lighter(other)
	}
	return least
}

// set gives d a share of buckets, or removes d if the share is 0, and renumbers the buckets after
// it.
func (p partition) set(d Destination, share uint64) partition {
	at, found := slices.BinarySearchFunc(p.slots, d, func(s slot, d Destination) int { return compareDestinations(s.to, d) })
	slots := make([]slot, 0, len(p.slots)+1)
	var end uint64
	grow := func(d Destination, share uint64) {
		end += share
		slots = append(slots, slot{d, end})
	}
	var before uint64
	for i, s := range p.slots {
		if i == at && share > 0 {
			grow(d, share)
		}
		if i != at || !found {
			grow(s.to, s.end-before)
		}
		before = s.end
	}
	if at == len(p.slots) && share > 0 {
		grow(d, share)
	}
	p.slots = slots
	return p
}

func compareDestinations(a, b Destination) int {
	return cmp.Or(cmp.Compare(a.Exchange, b.Exchange), cmp.Compare(a.Queue, b.Queue))
}

func (p partition) match(m *Message, r *Route) {
	if len(p.slots) == 0 {
		return
	}
	bucket := p.pick(m, r, p.slots[len(p.slots)-1].end)
	at, _ := slices.BinarySearchFunc(p.slots, bucket, func(s slot, bucket uint64) int { return cmp.Compare(s.end, bucket+1) })
	r.takeOne(p.slots[at].to)
}

// newHash reads the arguments of a consistent-hash exchange: what to hash instead of the routing
// key.
func newHash(spec *ExchangeSpec) (matcher, error) {
	refuse := func(text string) (matcher, error) { return nil, &Error{ErrInvalidArgument, spec.Name, text} }
	p := partition{weighted: true, pick: jumpBy(func(m *Message, _ *Route) []byte { return m.Key })}
	header, byHeader := spec.Args.Get("hash-header")
	property, byProperty := spec.Args.Get("hash-property")
	switch {
	case byHeader && byProperty:
		return refuse("hash-header and hash-property are mutually exclusive")
	case byHeader:
		name, ok := header.(string)
		if !ok {
			return refuse(fmt.Sprintf("Unsupported header: %v", header))
		}
		p.pick = jumpBy(func(m *Message, r *Route) []byte { return headerBytes(r.headers(m), name) })
	case byProperty:
		read, ok := hashProperties[fmt.Sprint(property)]
		if !ok {
			return refuse(fmt.Sprintf("Unsupported property: %v", property))
		}
		p.pick = jumpBy(read)
	}
	return p, nil
}

// hashProperties are the allowed values of hash-property.
var hashProperties = map[string]func(*Message, *Route) []byte{
	"message_id":     func(m *Message, _ *Route) []byte { return m.MessageID },
	"correlation_id": func(m *Message, _ *Route) []byte { return m.CorrelationID },
	"timestamp": func(m *Message, r *Route) []byte {
		return binary.BigEndian.AppendUint64(r.property[:0], m.Timestamp)
	},
}

// headerBytes returns the value of a header as bytes to hash, or nil if it is missing.
func headerBytes(have []field, name string) []byte {
	for _, f := range have {
		if f.name == name {
			return fmt.Append(nil, f.value)
		}
	}
	return nil
}

// jumpBy returns a function that picks a bucket by the jump consistent hash of what read returns:
// adding the n-th bucket moves one key in n.
func jumpBy(read func(*Message, *Route) []byte) func(*Message, *Route, uint64) uint64 {
	return func(m *Message, r *Route, total uint64) uint64 { return jump(hash(read(m, r)), total) }
}

func byRoutingKey(m *Message, _ *Route, total uint64) uint64 { return hash(m.Key) % total }

func atRandom(_ *Message, _ *Route, total uint64) uint64 { return rand.Uint64N(total) } // #nosec G404 -- spreads messages; no secret

// hash is FNV-1a with a final mixing step. It decides where keys go, so it never changes.
func hash(b []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range b {
		h = (h ^ uint64(c)) * 1099511628211
	}
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// jump implements "A Fast, Minimal Memory, Consistent Hash Algorithm" by Lamping and Veach.
func jump(key, buckets uint64) uint64 {
	var b, next uint64
	for next < buckets {
		b = next
		key = key*2862933555777941757 + 1
		next = uint64(float64(b+1) * (float64(1<<31) / float64(key>>33+1)))
	}
	return b
}
