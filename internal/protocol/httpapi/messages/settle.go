package messages

import (
	"context"
	"errors"
	"net/http"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/jobs"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// settler is an operation on messages that were taken.
type settler interface {
	// command returns the command for one message.
	command(on broker.OnQueue, id []byte, t jobs.Token) broker.Command
	// count sets in the answer for how many messages the operation succeeded.
	count(out *Settled, n int)
	// note informs the stream that sent the message.
	note(s *streams, token string)
}

// settle applies an operation to all messages of a request at once.
func (a *api) settle(r *http.Request, read func(r *http.Request, in *Tokens) (settler, error)) (rest.Answer, error) {
	var in Tokens
	if err := rest.Decode(r, &in); err != nil {
		return rest.Answer{}, err
	}
	if len(in.Tokens) == 0 || len(in.Tokens) > mostTokens {
		return rest.Answer{}, rest.BadRequest("tokens is a list of one to 10000 tokens of messages that were taken")
	}
	how, err := read(r, &in)
	if err != nil {
		return rest.Answer{}, err
	}
	var out Settled
	err = a.In(r, rest.Name(r, "vhost"), func(_ context.Context, s *broker.Session) (err error) {
		out, err = a.settleAll(s, rest.Name(r, "queue"), in.Tokens, how)
		return err
	})
	return rest.Answer{Status: http.StatusOK, Body: out}, err
}

func (a *api) settleAll(s *broker.Session, queueName string, tokens []string, how settler) (out Settled, err error) {
	out.Stale = []string{}
	commands, of := make([]broker.Command, 0, len(tokens)), make([]string, 0, len(tokens))
	for _, text := range tokens {
		t, id, ok := parseToken(text)
		if !ok {
			return out, rest.BadRequest("\"" + text + "\" is no token of a message that was taken")
		}
		commands, of = append(commands, how.command(broker.OnQueue{Queue: queueName}, id, t)), append(of, text)
	}
	if err := s.Do(commands...); err != nil {
		return out, err
	}
	done := 0
	for i, c := range commands {
		switch err := c.Failure(); {
		case err == nil:
			done++
			how.note(a.streams, of[i])
		case errors.Is(err, failure.ErrStale):
			out.Stale = append(out.Stale, of[i])
			a.streams.settled(of[i])
		default:
			return out, err
		}
	}
	how.count(&out, done)
	return out, nil
}

// acking acknowledges messages.
type acking struct{}

func (acking) command(on broker.OnQueue, id []byte, t jobs.Token) broker.Command {
	return &jobs.Report{OnQueue: on, ID: id, Token: t, Outcome: jobs.Done}
}
func (acking) count(out *Settled, n int)     { out.Acked = &n }
func (acking) note(s *streams, token string) { s.settled(token) }

// nacking requeues messages or dead-letters them.
type nacking struct {
	outcome jobs.Outcome
	delay   time.Duration
	text    string
}

func readNacking(_ *http.Request, in *Tokens) (settler, error) {
	n := nacking{outcome: jobs.Retry, text: in.Error}
	if in.Requeue != nil && !*in.Requeue {
		n.outcome = jobs.Failed
	}
	if in.Delay == "" {
		return n, nil
	}
	var err error
	if n.delay, err = rest.ParseSpan(in.Delay); err == nil && n.outcome == jobs.Failed {
		err = rest.BadRequest("delay is for messages that come back; these do not: leave one of delay and requeue out")
	}
	return n, err
}

func (n nacking) command(on broker.OnQueue, id []byte, t jobs.Token) broker.Command {
	return &jobs.Report{OnQueue: on, ID: id, Token: t, Outcome: n.outcome, Backoff: n.delay.Milliseconds(), Error: []byte(n.text)}
}
func (nacking) count(out *Settled, n int)     { out.Nacked = &n }
func (nacking) note(s *streams, token string) { s.settled(token) }

// extending renews leases.
type extending struct{ lease time.Duration }

func readExtending(_ *http.Request, in *Tokens) (settler, error) {
	e := extending{defaultLease}
	if in.Lease == "" {
		return e, nil
	}
	var err error
	e.lease, err = rest.ParseSpan(in.Lease)
	if err == nil && (e.lease < time.Millisecond || e.lease > longestLease) {
		err = rest.BadRequest("lease is how long the messages are yours from now on, at most " + longestLease.String())
	}
	return e, err
}

func (e extending) command(on broker.OnQueue, id []byte, t jobs.Token) broker.Command {
	return &jobs.Extend{OnQueue: on, ID: id, Token: t, Lock: e.lease.Milliseconds()}
}
func (extending) count(out *Settled, n int)       { out.Extended = &n }
func (e extending) note(s *streams, token string) { s.extended(token, time.Now().Add(e.lease)) }
