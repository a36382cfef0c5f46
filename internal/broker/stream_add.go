package broker

import (
	"fiveways/internal/core/message"
	"fiveways/internal/core/stream"
)

// StreamID says how an entry gets its id.
type StreamID uint8

const (
	NextID  StreamID = iota // the stream gives it
	NextIn                  // the stream gives the number in a time that is given
	GivenID                 // it is given
)

// StreamRefusal is why an entry was not taken.
type StreamRefusal uint8

const (
	NotRefused StreamRefusal = iota
	NotAbove                 // its id is not above all before
	NoMoreIDs
)

// StreamAdd puts a message into a stream.
type StreamAdd struct {
	OnStream
	Properties []byte // a property list
	Body       []byte
	How        StreamID
	ID         stream.ID // for GivenID; its time for NextIn
	Create     bool      // the stream is made when there is none
	Trim       *stream.Trim

	Added   stream.ID // the id it got
	Refused StreamRefusal

	env message.Envelope
}

func (a *StreamAdd) find(s *Session) (*Queue, error) {
	if a.Trim != nil {
		if err := s.may(toRead, "queue", a.Queue); err != nil {
			return nil, err
		}
	}
	find := a.findStream
	if a.Create {
		find = a.findOrMakeQueue
	}
	q, err := find(s, toWrite)
	if err != nil {
		return nil, err
	}
	s.pub = true
	env := make([]byte, 0, message.EnvelopeSize(0, len(a.Queue), len(a.Properties), len(a.Body)))
	a.env = append(message.AppendEnvelopeHeader(env, "", a.Queue, a.Properties), a.Body...)
	return q, nil
}

func (a *StreamAdd) run(sh *shard, q *Queue) error {
	find := a.stream
	if a.Create {
		find = a.makeStream
	}
	s, err := find(sh, q)
	if s == nil {
		return err
	}
	env := a.env
	a.env = nil
	if a.Added, a.Refused = a.pick(s, sh.now); a.Refused != NotRefused {
		return nil
	}
	sh.givenID = a.Added
	ok := sh.publish(&op{kind: opPublish, persistent: true, queue: q, env: env, ttl: -1})
	sh.givenID = stream.ID{}
	if !ok {
		return &Error{Err: ErrRejected, Kind: "queue", Name: q.Name, VHost: q.vhost.Name}
	}
	q.counts.Direct++
	if a.Trim != nil {
		sh.trimStream(q, a.Trim)
	}
	return nil
}

// pick finds the id of the entry.
func (a *StreamAdd) pick(s *stream.Stream, now int64) (id stream.ID, r StreamRefusal) {
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

// StreamDelete takes entries out of a stream.
type StreamDelete struct {
	OnStream
	IDs     []stream.ID
	Deleted int
}

func (d *StreamDelete) find(s *Session) (*Queue, error) { return d.findStream(s, toRead) }

func (d *StreamDelete) run(sh *shard, q *Queue) error {
	d.Deleted = 0
	s, err := d.stream(sh, q)
	if s == nil {
		return err
	}
	for _, id := range d.IDs {
		if h, ok := s.Find(id); ok {
			sh.settle(q, h, 1)
			d.Deleted++
		}
	}
	sh.mark(q)
	return nil
}

// StreamTrim takes the first entries out of a stream.
type StreamTrim struct {
	OnStream
	Trim    stream.Trim
	Trimmed int
}

func (t *StreamTrim) find(s *Session) (*Queue, error) { return t.findStream(s, toRead) }

func (t *StreamTrim) run(sh *shard, q *Queue) error {
	t.Trimmed = 0
	s, err := t.stream(sh, q)
	if s != nil {
		t.Trimmed = sh.trimStream(q, &t.Trim)
	}
	return err
}

// StreamSet changes what a stream says of entries that are not there any more.
type StreamSet struct {
	OnStream
	Last       stream.ID
	MaxDeleted stream.ID // 0-0: as it is
	Added      int64     // below 0: as it is

	Refused SetRefusal
}

// SetRefusal is why a StreamSet changed nothing.
type SetRefusal uint8

const (
	SetNotRefused    SetRefusal = iota
	BelowEntries                // Last comes before an entry
	FewerThanEntries            // Added is less than there are entries
)

func (t *StreamSet) find(s *Session) (*Queue, error) { return t.findStream(s, toWrite) }

func (t *StreamSet) run(sh *shard, q *Queue) error {
	s, err := t.stream(sh, q)
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
		sh.tellSettled() // what was deleted before is not among what this says
		sh.changeStream(q, appendSet(sh.aboutStream(q, streamSet), t.Last, deleted, added))
	}
	return nil
}
