package streams

import (
	"errors"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/stream"
)

// OnStream is embedded by all commands about streams: it finds their queue, which must be a stream.
type OnStream struct {
	broker.OnQueue
	// Missing is a result: the stream does not exist, and the command has done nothing. An empty
	// queue that is no stream counts as none.
	Missing bool
}

// OfStreams marks a command for streams.
func (*OnStream) OfStreams() {}

// findStream finds a queue for something that the session wants to do to its stream. A missing
// queue sets Missing and is no error.
func (o *OnStream) findStream(f broker.Finder, action string) (*shard.Queue, error) {
	q, err := f.Queue(action, o.Queue, false)
	o.Missing = errors.Is(err, failure.ErrQueueNotFound)
	return q, err
}

// findOrMakeQueue is findStream, and declares a missing queue.
func (o *OnStream) findOrMakeQueue(f broker.Finder, action string) (*shard.Queue, error) {
	o.Missing = false
	return f.Queue(action, o.Queue, true)
}

// stream returns the stream of a queue. Without an error it may be nil: there is none.
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
	at.Changed()
	o.Missing = false
	return at.Content().Stream, nil
}
