package messages

import (
	"context"
	"encoding/base64"
	"net/http"
	"strings"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/jobs"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// Limits of taking messages.
const (
	mostTaken    = 1000
	longestWait  = 10 * time.Minute
	defaultLease = time.Minute
	longestLease = 7 * 24 * time.Hour
	mostTokens   = 10_000
)

// consuming serves the paths for programs that take messages.
func (a *api) consuming() {
	a.Open(rest.Login, "GET /api/queues/{vhost}/{queue}/stream", a.stream)
	const path = "/api/queues/{vhost}/{queue}/messages/"
	a.Handle(rest.Login, "POST "+path+"take", a.take)
	a.Handle(rest.Login, "POST "+path+"ack", func(r *http.Request) (rest.Answer, error) {
		return a.settle(r, func(r *http.Request, in *Tokens) (settler, error) { return acking{}, nil })
	})
	a.Handle(rest.Login, "POST "+path+"nack", func(r *http.Request) (rest.Answer, error) { return a.settle(r, readNacking) })
	a.Handle(rest.Login, "POST "+path+"extend", func(r *http.Request) (rest.Answer, error) { return a.settle(r, readExtending) })
}

// take leases messages, and waits for them if the request says so.
func (a *api) take(r *http.Request) (rest.Answer, error) {
	count, err := rest.Number(r, "count", 1, mostTaken)
	if err != nil {
		return rest.Answer{}, err
	}
	wait, err := rest.Span(r, "wait", 0, longestWait)
	if err != nil {
		return rest.Answer{}, err
	}
	lease, err := leaseOf(r)
	if err != nil {
		return rest.Answer{}, err
	}
	out := Taken{Messages: []Message{}}
	err = a.In(r, rest.Name(r, "vhost"), func(ctx context.Context, s *broker.Session) error {
		t := &jobs.Take{OnQueue: broker.OnQueue{Queue: rest.Name(r, "queue")}, Max: count, Lock: lease.Milliseconds(), Plain: true}
		err := a.await(ctx, r, s, t, wait)
		for i := range t.Jobs {
			out.Messages = append(out.Messages, taken(&t.Jobs[i]))
		}
		return err
	})
	return rest.Answer{Status: http.StatusOK, Body: out}, err
}

// leaseOf reads ?lease=.
func leaseOf(r *http.Request) (time.Duration, error) {
	lease, err := rest.Span(r, "lease", defaultLease, longestLease)
	if err == nil && lease < time.Millisecond {
		err = rest.BadRequest("lease is how long the messages are yours, such as 60s")
	}
	return lease, err
}

// await takes messages. It waits until there are some, the time is over, or the server drains. If
// the client disconnects meanwhile, no message stays taken.
func (a *api) await(ctx context.Context, r *http.Request, s *broker.Session, t *jobs.Take, wait time.Duration) error {
	if wait == 0 {
		if err := s.Do(t); err != nil {
			return err
		}
		return t.Err
	}
	caller := rest.CallerOf(r.Context())
	caller.TakesTime(wait)
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	defer caller.WhenEnding(cancel)()
	if _, err := s.Await(waiting, t); err != nil {
		return err
	}
	if ctx.Err() != nil {
		giveBack(s, t)
		return context.Cause(ctx)
	}
	return t.Err
}

// giveBack ends leases that cannot be reported to the client.
func giveBack(s *broker.Session, t *jobs.Take) {
	var back []broker.Command
	for i := range t.Jobs {
		j := &t.Jobs[i]
		back = append(back, &jobs.Report{OnQueue: broker.OnQueue{Queue: t.Queue}, ID: j.ID, Token: j.Token, Outcome: jobs.Retry})
	}
	t.Jobs = nil
	_ = s.Do(back...) // if this fails, the leases expire
}

// taken returns the JSON form of a message with the token of its lease.
func taken(j *jobs.Job) Message {
	m := shownEnvelope(j.Env, -1)
	m.State, m.Returns, m.Redelivered = "unacked", j.Attempt-1, j.Attempt > 1
	m.Token = tokenText(j.Token, j.ID)
	m.LeaseUntil = timeText(time.Now().UnixMilli() + j.Lock)
	return m
}

// tokenText returns the token of a lease in the clients' form: the engine's token and the id of the
// job.
func tokenText(t jobs.Token, id []byte) string {
	return t.String() + "." + base64.RawURLEncoding.EncodeToString(id)
}

func parseToken(text string) (t jobs.Token, id []byte, ok bool) {
	lease, name, ok := strings.Cut(text, ".")
	if !ok {
		return t, nil, false
	}
	id, err := base64.RawURLEncoding.DecodeString(name)
	t, ok = jobs.ParseToken([]byte(lease))
	return t, id, ok && err == nil
}
