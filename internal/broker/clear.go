package broker

import "fiveways.dev/fiveways/internal/broker/shard"

// Clear removes the ready messages of a queue. A stream becomes an empty queue.
type Clear struct {
	OnQueue
	Removed int
	Existed bool // the queue was a list or a stream
}

func (c *Clear) Find(f Finder) (*shard.Queue, error) { return f.Queue(Reading, c.Queue, false) }

func (c *Clear) Run(at shard.Context) error {
	if stream := at.Content().Stream; stream != nil {
		c.Existed, c.Removed = true, stream.Len()
		at.EndStream()
	} else {
		c.Removed = at.Clear()
		c.Existed = c.Removed > 0
	}
	at.LetGo()
	return nil
}

func (*Clear) OfStreams() {}
