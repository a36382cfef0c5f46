package broker

import (
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/failure"
)

// lone is the command of Session.Run at its shard.
type lone struct {
	command Command
	done    chan struct{} // 1 slot: it has run; nil before the first
	early   bool          // it may have seen a message of the server that is not durable
}

// Run executes one command and, unlike Do, does not wait for the log: it is for commands that
// change nothing durable. There is one exception: it waits while a persistent message of the server
// in the queue is not yet durable. It finds the queue once; if that is deleted before the command
// has run, the error is ErrFindAgain. Errors: that of the command, which is also in its OnQueue;
// ErrLogFailed, ErrClosed.
func (s *Session) Run(c Command) error {
	s.Flush()
	if err := s.find(c); err != nil {
		return err
	}
	l := &s.lone
	if l.done == nil {
		l.done = make(chan struct{}, 1)
	}
	l.command = c
	if _, ok := c.on().queue.Home().Submit(&s.client, shard.Op{Kind: shard.OpRun, Extra: l}, false); !ok {
		return failure.ErrClosed
	}
	<-l.done
	l.command = nil
	o := c.on()
	if l.early && o.Err == nil {
		return o.queue.AwaitDurable()
	}
	return o.Err
}

func (l *lone) Run(*shard.Shard) {
	runCommand(l.command)
	l.early = shard.ContextOf(l.command.on().queue).IsEarly()
	l.done <- struct{}{}
}
