package inspect

import (
	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
)

// Kind is what a queue is to the Redis protocol: nothing, a list or a stream.
type Kind uint8

const (
	NoKind     Kind = iota // no queue, or one without ready messages
	ListKind               // messages that go when they are taken
	StreamKind             // entries that stay until they are deleted
)

// KindOf is the command that returns the kind of a queue.
type KindOf struct {
	broker.OnQueue
	Kind Kind
}

// Find implements broker.Command.
func (k *KindOf) Find(f broker.Finder) (*shard.Queue, error) {
	k.Kind = NoKind
	return f.Queue(broker.Reading, k.Queue, false)
}

// Run implements broker.Command.
func (k *KindOf) Run(at shard.Context) error {
	k.Kind = kindOf(at)
	return nil
}

// OfStreams marks it as a command for streams, too.
func (*KindOf) OfStreams() {}

func kindOf(at shard.Context) Kind {
	switch {
	case at.Content().Stream != nil:
		return StreamKind
	case at.Deliveries().Ready() > 0:
		return ListKind
	}
	return NoKind
}

// Scanned is a queue that Scan has found.
type Scanned struct {
	Name string
	Kind Kind // not NoKind
}

// Scan looks at the next n queues of the virtual host from an index on, which begins with 0. It
// returns those that have a kind and that the session may read, and the index to continue with, 0
// at the end. A caller that continues until the end has seen each queue that had a kind all the
// time. Errors: ErrClosed.
func Scan(s *broker.Session, from uint64, n int) (found []Scanned, next uint64, err error) {
	s.Flush()
	f := s.Finder()
	queues, next := f.QueuesFrom(from, n)
	err = f.Broker().AtEach(readable(s, queues), func(_ int, at shard.Context) {
		if kind := kindOf(at); kind != NoKind {
			found = append(found, Scanned{at.Queue().Name, kind})
		}
	})
	if err != nil {
		return nil, 0, err
	}
	return found, next, nil
}
