package loans

import (
	"errors"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
)

// One command lends at most this many messages, or bytes of them: the shard stands still for it.
const (
	fetchMessages = 1024
	fetchBytes    = 1 << 20
)

// Fetch lends up to n ready messages of a queue, at least one if there is one, in the order of the
// queue. None means that nothing is ready now; what is lent may come back. Message groups, times
// and expiry count as for Session.Get.
//
// keep reports whether a message is wanted, nil wants all. The others stay where they are, ready
// for every client. It is called on the caller's goroutine, in the order of the queue; a message
// that it wants may be gone when it is asked for.
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
			break // it is gone
		}
		if err != nil {
			return f.got, err
		}
	}
	return f.got, nil
}

// fetch is the command of Fetch without a choice. It runs until it is through.
type fetch struct {
	broker.OnQueue
	max  int
	got  []shard.Delivery
	more bool // it is not through
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

// OfStreams: entries of a stream are lent, too.
func (*fetch) OfStreams() {}
