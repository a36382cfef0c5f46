package loans

import (
	"context"
	"errors"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
)

// Bounds on the messages, and their bytes, that one command lends, because it blocks the shard.
const (
	fetchMessages = 1024
	fetchBytes    = 1 << 20
)

// Fetch lends up to n ready messages of a queue, in queue order, and at least one if there is one.
// An empty result means that nothing is ready now; lent messages may return. Message groups, due
// times and expiry apply as for Session.Get.
//
// keep reports whether a message is wanted; nil wants all. Unwanted messages stay in place, ready
// for every client. keep is called on the caller's goroutine, in queue order. A message that it
// wants may be gone before it can be lent.
//
// Errors: ErrAccessRefused, ErrQueueNotFound, ErrExclusive, ErrClosed.
func Fetch(s *broker.Session, queueName string, n int, keep func(message.Envelope) bool) ([]shard.Delivery, error) {
	if keep != nil {
		w, err := NewSweep(s, queueName, keep)
		if err != nil {
			return nil, err
		}
		return w.Next(max(n, 1))
	}
	f := fetch{OnQueue: broker.OnQueue{Queue: queueName}, max: max(n, 1), more: true}
	for f.more {
		err := s.Run(&f)
		if errors.Is(err, broker.ErrFindAgain) {
			break // the queue is gone
		}
		if err != nil {
			return f.got, err
		}
	}
	return f.got, nil
}

// FetchBatch is the number of messages that FetchWithin lends between two looks at its limits.
const FetchBatch = 4096

// recordBytes is the approximate memory that a caller needs for a message beyond its envelope.
const recordBytes = 1024

// FetchWithin is Fetch that lends no further messages once those it has lent take some number of
// bytes of memory, or ctx has ended, which is not an error. With an error it returns what it has
// lent.
func FetchWithin(ctx context.Context, s *broker.Session, queueName string, n, bytes int, keep func(message.Envelope) bool) (lent []shard.Delivery, err error) {
	for len(lent) < n && bytes > 0 && ctx.Err() == nil {
		batch := min(n-len(lent), FetchBatch)
		got, err := Fetch(s, queueName, batch, keep)
		lent = append(lent, got...)
		if err != nil || len(got) < batch {
			return lent, err
		}
		for i := range got {
			bytes -= len(got[i].Env) + recordBytes
		}
	}
	return lent, nil
}

// fetch is the command of Fetch without keep. It is repeated until it is complete.
type fetch struct {
	broker.OnQueue
	max  int
	got  []shard.Delivery
	more bool // not yet complete
}

// Find implements broker.Command.
func (f *fetch) Find(by broker.Finder) (*shard.Queue, error) {
	if q := f.Found(); q != nil {
		return q, nil
	}
	return by.Queue(broker.Reading, f.Queue, false)
}

// Run implements broker.Command.
func (f *fetch) Run(at shard.Context) error {
	at.Use()
	at.ServeConsumers()
	if f.got == nil {
		f.got = make([]shard.Delivery, 0, min(f.max, max(at.Deliveries().Ready(), 1), fetchMessages))
	}
	f.more = false
	for n, bytes := 0, 0; len(f.got) < f.max; n++ {
		if n == fetchMessages || bytes >= fetchBytes {
			f.more = true
			break
		}
		it, again := at.TryNext()
		if it == nil {
			f.more = again
			break
		}
		f.got = append(f.got, at.Lent(f.By(), it, it.Env))
		bytes += len(it.Env)
	}
	at.Changed()
	return nil
}

// OfStreams marks it as a command for streams, too: their entries can be lent.
func (*fetch) OfStreams() {}
