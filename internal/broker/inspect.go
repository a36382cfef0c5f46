package broker

// Kind is what a queue is to those who look for lists and streams.
type Kind uint8

const (
	NoKind     Kind = iota // nothing is there: no queue, or one without ready messages
	ListKind               // messages that go when they are taken
	StreamKind             // entries that stay until they are deleted
)

// Inspect tells of what kind a queue is.
type Inspect struct {
	OnQueue
	Kind Kind
}

func (i *Inspect) Find(f Finder) (*Queue, error) {
	i.Kind = NoKind
	return f.s.readable(i.Queue)
}

func (i *Inspect) Run(at Context) error {
	i.Kind = at.q.kind()
	return nil
}

func (*Inspect) OfStreams() {}

// kind runs on the shard's goroutine.
func (q *Queue) kind() Kind {
	switch {
	case q.gone:
		return NoKind
	case q.content.Stream != nil:
		return StreamKind
	case q.state.Ready() > 0:
		return ListKind
	}
	return NoKind
}
