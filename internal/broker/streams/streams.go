package streams

import (
	"errors"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/stream"
)

// OnStream is what all commands about streams embed: their queue, and that it must be a stream.
type OnStream struct {
	broker.OnQueue
	// Missing: there is no such stream, and the command has done nothing. A queue that is no stream
	// and is empty counts as none.
	Missing bool
}

// OfStreams marks a command about streams.
func (*OnStream) OfStreams() {}

// findStream finds a queue to do something to the stream it may be. What is not there is not an
// error but Missing.
func (o *OnStream) findStream(f broker.Finder, action string) (*shard.Queue, error) {
	q, err := f.Queue(action, o.Queue, false)
	o.Missing = errors.Is(err, failure.ErrQueueNotFound)
	return q, err
}

// findOrMakeQueue is findStream, and declares the queue when it is not there.
func (o *OnStream) findOrMakeQueue(f broker.Finder, action string) (*shard.Queue, error) {
	o.Missing = false
	return f.Queue(action, o.Queue, true)
}

// stream is the stream of a queue. Without an error it may be nil: there is none.
func (o *OnStream) stream(at shard.Context) (*stream.Stream, error) {
	at.Use()
	s := at.Content().Stream
	o.Missing = s == nil && at.Empty()
	if s == nil && !o.Missing {
		return nil, at.Queue().Fail(failure.ErrWrongKind)
	}
	return s, nil
}

// makeStream is stream, and makes an empty queue a stream. Errors: ErrWrongKind.
func (o *OnStream) makeStream(at shard.Context) (*stream.Stream, error) {
	s, err := o.stream(at)
	if s != nil || err != nil {
		return s, err
	}
	if err := at.MakeStream(); err != nil {
		return nil, err
	}
	o.Missing = false
	return at.Content().Stream, nil
}
