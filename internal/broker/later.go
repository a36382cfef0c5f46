package broker

import (
	"fiveways/internal/core/message"
	"fiveways/internal/core/queue"
	"fiveways/internal/core/shardstate"
)

// Later is the messages that a command is to give out and that are only on disk: they are read on
// the caller's goroutine (Finish), so that the shard goes on meanwhile.
type Later struct {
	sh     *shard
	places []diskPlace
}

// Load is the message of an item; nil when it is to be read later, by the number i, or cannot be
// read.
func (l *Later) Load(at Context, it *queue.Item, i int) message.Envelope {
	switch {
	case it.Env != nil:
		return it.Env
	case it.Flags&queue.Scratch != 0:
		env, _ := at.sh.loadAside(it)
		return env
	}
	l.sh = at.sh
	l.places = append(l.places, diskPlace{i, it.Index, it.Sub})
	return nil
}

// Read calls each with the messages that are on disk, by their numbers. One that cannot be read is
// left out: mostly it has gone meanwhile.
func (l *Later) Read(each func(i int, env message.Envelope)) {
	if len(l.places) == 0 {
		return
	}
	reader := l.sh.b.store.NewReader(l.sh.id)
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
