package shard

import (
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/core/shardstate"
)

// Later is the messages that a command answers with and that are only on disk: they are read on the
// caller's goroutine (Finish), so that the shard is free meanwhile.
type Later struct {
	sh     *Shard
	places []diskPlace
}

// diskPlace is where the log has a message.
type diskPlace struct {
	at    int // its number
	index uint64
	sub   uint32
}

// Load returns the message of an item, nil when it cannot be read, or when it is on disk: then Read
// has it under the number i.
func (l *Later) Load(at Context, it *queue.Item, i int) message.Envelope {
	switch {
	case it.Env != nil:
		return it.Env
	case it.Flags&queue.Scratch != 0:
		env, _ := at.sh.bodies.LoadAside(it)
		return env
	}
	l.sh = at.sh
	l.places = append(l.places, diskPlace{i, it.Index, it.Sub})
	return nil
}

// Read calls each with the messages that are on disk, by their numbers. A message that cannot be
// read is left out: usually it was settled meanwhile.
func (l *Later) Read(each func(i int, env message.Envelope)) {
	if len(l.places) == 0 {
		return
	}
	reader := l.sh.set.Store.NewReader(l.sh.ID)
	var m shardstate.Message
	for _, p := range l.places {
		if fact, err := reader.Read(p.index, p.sub); err == nil {
			if env, err := bodyOf(fact, &m); err == nil {
				each(p.at, env)
			}
		}
	}
	l.places = nil
}
