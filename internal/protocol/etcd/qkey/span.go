package qkey

import "bytes"

// Span is a range of queue keys, with the properties that can be derived without knowing the
// queues.
type Span struct {
	From, To []byte // [From, To)
	Root     []byte // as spelled in the range
	Queue    []byte // if all keys belong to one queue, its segment as spelled; otherwise nil
	Part     []byte // spelling of "c" in keys of consumers
	Client   []byte // if all keys are deliveries of one consumer, its segment; otherwise nil
}

// NewSpan returns the range from key to end as a client specifies it: an end of one zero byte means
// no end. key must be a queue key. The range ends at the end of the keys with the same root.
func NewSpan(key, end []byte) Span {
	s := Span{From: key, To: end, Root: rootOf(key)}
	if len(end) == 1 && end[0] == 0 || bytes.Compare(end, after(s.Root)) > 0 {
		s.To = after(s.Root)
	}
	s.widen()
	s.Part = []byte("c")
	if string(s.Root) == longRoot {
		s.Part = []byte("consumer")
	}
	name, rest, ok := bytes.Cut(s.From[len(s.Root):], slash)
	if !ok || !s.within(len(s.Root)+len(name)) {
		return s
	}
	s.Queue = name
	if len(rest) > 0 && len("consumer") >= len(rest) && "consumer"[:len(rest)] == string(rest) {
		s.Part = []byte("consumer")
		if len(rest) == 1 {
			s.Part = []byte("c")
		}
	}
	part, rest, ok := bytes.Cut(rest, slash)
	if !ok || !isConsumer(part) {
		return s
	}
	s.Part = part
	client, _, ok := bytes.Cut(rest, slash)
	if ok && s.within(len(s.From)-len(rest)+len(client)) {
		s.Client = client
	}
	return s
}

// widen pads the indexes in the bounds to the full number of digits.
func (s *Span) widen() {
	prefix := bytes.Equal(s.To, PrefixEnd(s.From))
	if from := widened(s.From); from != nil {
		s.From = from
		if prefix {
			s.To = PrefixEnd(from)
			return
		}
	}
	if to := widened(s.To); to != nil {
		s.To = to
	}
}

// widened returns a key, or a prefix of one, with its index padded to all digits. It returns nil if
// there is nothing to pad.
func widened(key []byte) []byte {
	root := rootOf(key)
	segments := bytes.SplitN(key[len(root):], slash, 5)
	at := 1
	if len(segments) > 1 && isConsumer(segments[1]) {
		at = 3
	}
	if root == nil || len(segments) < at+2 || len(segments[at]) >= indexDigits {
		return nil
	}
	n, ok := parseIndex(segments[at])
	if !ok {
		return nil
	}
	tail := bytes.Join(segments[at+1:], slash)
	return AppendMessage(append(append([]byte(nil), root...), bytes.Join(segments[:at], slash)...), n, tail)
}

// within reports whether all keys of the span begin with the first n bytes of the first key and a
// slash.
func (s *Span) within(n int) bool { return bytes.Compare(s.To, after(s.From[:n+1])) <= 0 }

// Has reports whether a key lies in the span.
func (s *Span) Has(key []byte) bool {
	return bytes.Compare(s.From, key) <= 0 && bytes.Compare(key, s.To) < 0
}

// Meets reports whether a key that begins with prefix may lie in the span.
func (s *Span) Meets(prefix []byte) bool {
	return bytes.Compare(prefix, s.To) < 0 && bytes.Compare(s.From, after(prefix)) < 0
}

// FirstIndex returns the lowest index that messages in the span may have, for keys of the form
// prefix, slash, index, message key.
func (s *Span) FirstIndex(prefix []byte) uint64 {
	if !bytes.HasPrefix(s.From, prefix) {
		return 0
	}
	return indexAt(s.From, len(prefix)+1)
}

// EndIndex returns the index below which all such keys are in the span, unless they lie before its
// start.
func (s *Span) EndIndex(prefix []byte) uint64 {
	if !bytes.HasPrefix(s.To, prefix) || len(s.To) > len(prefix) && s.To[len(prefix)] != '/' {
		return 1<<64 - 1
	}
	return indexAt(s.To, len(prefix)+1)
}

// indexAt returns the lowest index whose keys may be at or after bound. The digits of the index
// begin at position at.
func indexAt(bound []byte, at int) (index uint64) {
	if len(bound) <= at {
		return 0
	}
	digits := [indexDigits]byte(bytes.Repeat([]byte("0"), indexDigits))
	for i, c := range bound[at:] {
		if i == indexDigits || c < '0' {
			break
		}
		if c > '9' {
			copy(digits[i:], bytes.Repeat([]byte("9"), indexDigits))
			break
		}
		digits[i] = c
	}
	if index, ok := parseIndex(digits[:]); ok || index > 0 {
		return index
	}
	if digits[0] == '0' {
		return 0
	}
	return 1<<64 - 1
}

// PrefixEnd returns the end of the range of all keys with the prefix, in the form that clients use.
func PrefixEnd(prefix []byte) []byte {
	end := after(prefix)
	if end == nil {
		return []byte{0}
	}
	return end
}

// after returns the first key after all keys with the prefix, or nil if there is none.
func after(prefix []byte) []byte {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] < 0xff {
			end := append([]byte(nil), prefix[:i+1]...)
			end[i]++
			return end
		}
	}
	return nil
}

// Reach describes which keys of a consumer a range contains.
type Reach uint8

const (
	// Elsewhere: the range is not limited to keys of one consumer.
	Elsewhere Reach = iota
	// Self: the consumer's own key.
	Self
	// Some: some of the deliveries that it holds or may hold.
	Some
	// All: all deliveries that it holds.
	All
	// Whole: its own key and all deliveries that it holds.
	Whole
)

// ConsumerOf returns the consumer that a key with an optional end concerns, and which of its keys.
// A prefix range means this consumer even if names of other consumers have the same prefix.
func ConsumerOf(key, end []byte) (Path, Reach) {
	p := Parse(key)
	if len(end) == 0 {
		switch p.Kind {
		case Consumer:
			return p, Self
		case Delivery:
			return p, Some
		}
		return p, Elsewhere
	}
	if p.Kind == Consumer && len(key) == len(p.Base) && bytes.Equal(end, after(key)) {
		return p, Whole
	}
	s := NewSpan(key, end)
	if s.Client == nil {
		return p, Elsewhere
	}
	n := len(s.Root) + len(s.Queue) + 1 + len(s.Part) + 1 + len(s.Client)
	if len(s.From) == n+1 && bytes.Equal(s.To, after(s.From)) {
		return Parse(s.From[:n]), All
	}
	return Parse(s.From[:n]), Some
}
