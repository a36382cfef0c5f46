package semaphores

import (
	"errors"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/statemachine"
)

// recordAlone makes the round durable with its events. It is exempt from publisher flow control:
// there is one such batch at a time, and a release frees memory elsewhere.
func (r *round) recordAlone() error {
	if s := r.session(); s != nil {
		return s.DoAll(append([]broker.Command{r.entry()}, commands(r.publishes())...)...)
	}
	_, err := r.m.b.StateMachine(statemachine.Semaphores).Record(r.facts.b)
	return err
}

// session returns the session that publishes the events of rounds. It is nil if its virtual host
// does not exist: then nothing receives events either.
func (r *round) session() *broker.Session {
	for i := 0; r.m.session == nil && i < len(r.touched); i++ {
		r.m.session, _ = r.m.b.Operate(r.touched[i].vhost.Name)
	}
	return r.m.session
}

// recordWith makes the round durable together with the rest of the request's group. kept reports
// whether the round is in the log.
func (r *round) recordWith(q *request) (err error, kept bool) {
	if q.group.Tx != nil {
		return r.commit(q.group.Tx)
	}
	if len(r.facts.b) == 0 {
		return q.s.DoAll(q.group.Commands...), true
	}
	n := r.entry()
	all := append(append(append([]broker.Command(nil), q.group.Commands...), n), commands(r.publishes())...)
	err = q.s.DoAll(all...)
	return err, err == nil && n.Index != 0
}

// commit commits a transaction that includes the round.
func (r *round) commit(tx *broker.Tx) (err error, kept bool) {
	if len(r.facts.b) > 0 {
		tx.Piggyback(r.entry())
		for _, e := range r.publishes() {
			tx.ServerPublish(e)
		}
	}
	err = tx.Commit()
	return err, err == nil
}

func (r *round) entry() *broker.PiggybackedEntry {
	return &broker.PiggybackedEntry{Machine: statemachine.Semaphores, Entry: r.facts.b}
}

// publishes returns the messages of the transitions in virtual hosts with listeners.
func (r *round) publishes() (all []*broker.ServerPublish) {
	var of catalog.VHostID
	listens := false
	for i := range r.events {
		e := &r.events[i]
		if e.Event == 0 {
			continue
		}
		if of != e.of.vhost {
			of = e.of.vhost
			listens = r.m.b.Listens(of, Exchange)
		}
		if listens {
			all = append(all, &broker.ServerPublish{VHost: of, Env: envelope(e)})
		}
	}
	return all
}

func commands(publishes []*broker.ServerPublish) []broker.Command {
	all := make([]broker.Command, len(publishes))
	for i, e := range publishes {
		all[i] = e
	}
	return all
}

// fatal reports whether the broker accepts no further writes.
func fatal(err error) bool {
	return errors.Is(err, failure.ErrLogFailed) || errors.Is(err, failure.ErrClosed)
}
