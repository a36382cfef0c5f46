package bodies

import (
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/core/shardstate"
)

// Later is the messages that a command answers with and that are only on disk: they are read on the
// caller's goroutine (Finish), so that the shard is free meanwhile.
type Later struct {
	of     *Bodies
	places []place
}

// place is where the log has a message.
type place struct {
	at    int // its number
	index uint64
	sub   uint32
}

// Load returns the message of an item, nil when it cannot be read, or when it is on disk: then Read
// has it under the number i. It is for the goroutine that runs the shard of the bodies.
func (l *Later) Load(b *Bodies, it *queue.Item, i int) message.Envelope {
	switch {
	case it.Env != nil:
		return it.Env
	case it.Flags&queue.Scratch != 0:
		env, _ := b.LoadAside(it)
		return env
	}
	l.of = b
	l.places = append(l.places, place{i, it.Index, it.Sub})
	return nil
}

// Read calls each with the messages that are on disk, by their numbers. A message that cannot be
// read is left out: usually it was settled meanwhile.
func (l *Later) Read(each func(i int, env message.Envelope)) {
	if len(l.places) == 0 {
		return
	}
	reader := l.of.Log.NewReader(l.of.shard)
	var m shardstate.Message
	for _, p := range l.places {
		if fact, err := reader.Read(p.index, p.sub); err == nil && m.Decode(fact) == nil {
			each(p.at, m.Env)
		}
	}
	l.places = nil
}
