package streams

import (
	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/stream"
)

// How is how an entry gets its id.
type How uint8

const (
	NextID  How = iota // the stream chooses it
	NextIn             // the caller gives the time, the stream the number
	GivenID            // the caller gives it
)

// Refusal is why an entry was not accepted.
type Refusal uint8

const (
	NotRefused Refusal = iota
	NotAbove           // its id is not greater than all earlier ones
	NoMoreIDs
)

// Add adds a message to a stream.
type Add struct {
	OnStream
	Properties []byte // a property list
	Body       []byte
	How        How
	ID         stream.ID // for GivenID; for NextIn only its time
	Create     bool      // create a missing stream
	Trim       *stream.Trim

	Added   stream.ID // result: its id
	Refused Refusal

	env message.Envelope
}

func (a *Add) Find(f broker.Finder) (*shard.Queue, error) {
	if a.Trim != nil {
		if err := f.May(broker.Reading, a.Queue); err != nil {
			return nil, err
		}
	}
	find := a.findStream
	if a.Create {
		find = a.findOrMakeQueue
	}
	q, err := find(f, broker.Writing)
	if err != nil {
		return nil, err
	}
	f.Publishes()
	env := make([]byte, 0, message.EnvelopeSize(0, len(a.Queue), len(a.Properties), len(a.Body)))
	a.env = append(message.AppendEnvelopeHeader(env, "", a.Queue, a.Properties), a.Body...)
	return q, nil
}

func (a *Add) Run(at shard.Context) error {
	find := a.stream
	if a.Create {
		find = a.makeStream
	}
	s, err := find(at)
	if s == nil {
		return err
	}
	env := a.env
	a.env = nil
	if a.Added, a.Refused = a.pick(s, at.Now()); a.Refused != NotRefused {
		return nil
	}
	p := shard.Publish{Env: env, Persistent: true, TTL: -1}
	if err := at.PublishEntry(a.By(), &p, a.Added); err != nil {
		return err
	}
	if a.Trim != nil {
		trim(at, a.Trim)
	}
	return nil
}

// EachBody calls fn with the size of what is published, for rate limits.
func (a *Add) EachBody(fn func(bytes int64)) { fn(int64(len(a.Body))) }

// trim removes the entries that exceed a limit and returns their number.
func trim(at shard.Context, t *stream.Trim) int {
	s := at.Content().Stream
	before, n := s.Cut(t)
	if n == 0 {
		return 0
	}
	first, _ := s.Find(s.FirstEntry())
	at.Facts().TrimStream(at.Content(), before)
	at.LoansEnded(first, int(before-first))
	at.Changed()
	return n
}

// pick chooses the id of the entry.
func (a *Add) pick(s *stream.Stream, now int64) (id stream.ID, r Refusal) {
	if s.Last() == stream.MaxID {
		return id, NoMoreIDs
	}
	ok := true
	switch a.How {
	case NextID:
		id, _ = s.NextID(now)
	case NextIn:
		id, ok = s.NextIn(a.ID.Ms)
	default:
		id, ok = a.ID, s.Last().Before(a.ID)
	}
	if !ok {
		return id, NotAbove
	}
	return id, NotRefused
}

// Delete removes entries from a stream.
type Delete struct {
	OnStream
	IDs     []stream.ID
	Deleted int
}

func (d *Delete) Find(f broker.Finder) (*shard.Queue, error) { return d.findStream(f, broker.Reading) }

func (d *Delete) Run(at shard.Context) error {
	d.Deleted = 0
	s, err := d.stream(at)
	if s == nil {
		return err
	}
	for _, id := range d.IDs {
		if h, ok := s.Find(id); ok {
			at.Settle(h, 1)
			d.Deleted++
		}
	}
	if d.Deleted > 0 {
		at.Changed()
	}
	return nil
}

// Trim removes the first entries of a stream.
type Trim struct {
	OnStream
	Trim    stream.Trim
	Trimmed int
}

func (t *Trim) Find(f broker.Finder) (*shard.Queue, error) { return t.findStream(f, broker.Reading) }

func (t *Trim) Run(at shard.Context) error {
	t.Trimmed = 0
	s, err := t.stream(at)
	if s != nil {
		t.Trimmed = trim(at, &t.Trim)
	}
	return err
}

// Set changes what a stream records about entries that no longer exist.
type Set struct {
	OnStream
	Last       stream.ID
	MaxDeleted stream.ID // 0-0: unchanged
	Added      int64     // below 0: unchanged

	Refused SetRefusal
}

// SetRefusal is why a Set changed nothing.
type SetRefusal uint8

const (
	SetNotRefused    SetRefusal = iota
	BelowEntries                // Last is below the id of an entry
	FewerThanEntries            // Added is less than the number of entries
)

func (t *Set) Find(f broker.Finder) (*shard.Queue, error) { return t.findStream(f, broker.Writing) }

func (t *Set) Run(at shard.Context) error {
	s, err := t.stream(at)
	if s == nil {
		return err
	}
	switch t.Refused = SetNotRefused; {
	case s.Len() > 0 && t.Last.Before(s.LastEntry()):
		t.Refused = BelowEntries
	case s.Len() > 0 && t.Added >= 0 && t.Added < int64(s.Len()):
		t.Refused = FewerThanEntries
	default:
		deleted, added := s.MaxDeleted(), s.Added()
		if !t.MaxDeleted.IsZero() {
			deleted = t.MaxDeleted
		}
		if t.Added >= 0 {
			added = uint64(t.Added)
		}
		at.Facts().SetStream(at.Content(), t.Last, deleted, added)
	}
	return nil
}
