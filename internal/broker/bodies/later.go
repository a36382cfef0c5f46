package bodies

import (
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/core/shardstate"
)

// Later is the messages in a command's answer that are only on disk: the caller's goroutine reads
// them (Finish), so that the shard is free meanwhile.
type Later struct {
	of     *Bodies
	places []place
}

// place is the position of a message in the log.
type place struct {
	at    int // its number in the answer
	index uint64
	sub   uint32
}

// Load returns the message of an item. It returns nil if the message cannot be read, or is on disk:
// then Read yields it with the number i. It is for the goroutine that runs the shard.
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

// Read calls each for the messages that are on disk, with their numbers. It omits a message that
// cannot be read: usually it was settled meanwhile.
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
