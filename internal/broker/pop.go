package broker

import "fiveways/internal/core/queue"

// Pop takes ready messages off a queue for good, in the order in which it finds them.
type Pop struct {
	OnQueue
	Max    int      // at most so many
	Create bool     // a durable queue is made when there is none: for who waits
	Bodies [][]byte // not to be changed
	Left   int      // how many are ready then
}

func (p *Pop) find(s *Session) (*Queue, error) { return s.readableList(p.Queue, p.Create) }

func (p *Pop) got() bool { return len(p.Bodies) > 0 }

func (p *Pop) run(sh *shard, q *Queue) error {
	p.Bodies = nil
	for len(p.Bodies) < p.Max {
		it := sh.popNext(q)
		if it == nil {
			break
		}
		p.Bodies = append(p.Bodies, it.Env.Body())
	}
	p.Left = q.state.Ready()
	return nil
}

// popNext settles the next message of the queue and returns it; nil when none can be had.
func (sh *shard) popNext(q *Queue) *queue.Item {
	it := sh.takeNext(q, true)
	if it != nil {
		sh.settle(q, it.Handle, 1)
	}
	return it
}

// takeNext lends the next message of the queue, nil when none can be had. With settled the caller settles it at once.
func (sh *shard) takeNext(q *Queue, settled bool) *queue.Item {
	q.used(sh.now)
	it, again := sh.getNext(q, settled)
	for it == nil && again {
		it, again = sh.getNext(q, settled)
	}
	if it == nil {
		return nil
	}
	sh.taken = *it // what settling it may change
	q.delivered++
	sh.mark(q)
	return &sh.taken
}
