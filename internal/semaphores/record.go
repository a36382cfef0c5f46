package semaphores

import (
	"errors"

	"fiveways/internal/broker"
)

// recordAlone makes what the round did durable, with its events. It does not wait for room, as those do who publish: there is one such group at a time,
// and a release is what makes room elsewhere.
func (r *round) recordAlone() error {
	if s := r.speaker(); s != nil {
		return s.DoAll(append([]broker.Command{r.note()}, commands(r.emits())...)...)
	}
	_, err := r.m.b.Recorder(broker.SemaphoreShard).Record(r.facts.b)
	return err
}

// speaker is the session in whose name groups of the log are made, nil when there is no virtual host for one: then nobody hears events either.
func (r *round) speaker() *broker.Session {
	for i := 0; r.m.voice == nil && i < len(r.touched); i++ {
		r.m.voice, _ = r.m.b.Operate(r.touched[i].vhost.Name)
	}
	return r.m.voice
}

// recordWith makes it durable together with what else is in the group of a request. kept tells whether it is in the log.
func (r *round) recordWith(q *request) (err error, kept bool) {
	if q.group.Tx != nil {
		return r.commit(q.group.Tx)
	}
	if len(r.facts.b) == 0 {
		return q.s.DoAll(q.group.Commands...), true
	}
	n := r.note()
	all := append(append(append([]broker.Command(nil), q.group.Commands...), n), commands(r.emits())...)
	err = q.s.DoAll(all...)
	return err, err == nil && n.Index != 0
}

// commit commits a transaction with what the round did in it.
func (r *round) commit(tx *broker.Tx) (err error, kept bool) {
	if len(r.facts.b) > 0 {
		tx.Note(r.note())
		for _, e := range r.emits() {
			tx.Emit(e)
		}
	}
	err = tx.Commit()
	return err, err == nil
}

func (r *round) note() *broker.Note {
	return &broker.Note{Annex: broker.SemaphoreShard, Entry: r.facts.b}
}

// emits are the messages of the transitions, as far as somebody listens.
func (r *round) emits() (all []*broker.Emit) {
	var of broker.VHostID
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
			all = append(all, &broker.Emit{VHost: of, Env: envelope(e)})
		}
	}
	return all
}

func commands(emits []*broker.Emit) []broker.Command {
	all := make([]broker.Command, len(emits))
	for i, e := range emits {
		all[i] = e
	}
	return all
}

// fatal tells whether the broker takes nothing any more.
func fatal(err error) bool {
	return errors.Is(err, broker.ErrLogFailed) || errors.Is(err, broker.ErrClosed)
}
