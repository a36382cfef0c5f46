package jobs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"slices"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/broker/jobs"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/monitor"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

const (
	defaultPage = 50
	largestPage = 1000
	// searchTime limits how long a request searches for jobs in a state.
	searchTime = time.Second
)

// api serves the paths of this package.
type api struct {
	*rest.API
	monitor *monitor.Monitor
}

// Register adds the paths to an API. m has the history of jobs.
func Register(on *rest.API, m *monitor.Monitor) {
	a := &api{on, m}
	a.Describe(about)
	const queue, one = "/api/jobs/{vhost}/{queue}", "/api/jobs/{vhost}/{queue}/{id}"
	a.Get(rest.Management, "/api/jobs", a.queues)
	a.Get(rest.Management, queue, a.list)
	a.Handle(rest.Login, "POST "+queue, a.enqueue)
	a.Handle(rest.Login, "POST "+queue+"/retry", a.retryAll)
	a.Handle(rest.Login, "DELETE "+queue, a.cancelAll)
	a.Get(rest.Login, one, a.status)
	a.Delete(rest.Login, one, a.cancel)
	a.Handle(rest.Login, "POST "+one+"/retry", func(r *http.Request) (rest.Answer, error) {
		return rest.Answer{Status: http.StatusNoContent}, a.retry(r)
	})
}

// on returns a reference to the queue of a request.
func on(r *http.Request) broker.OnQueue { return broker.OnQueue{Queue: rest.Name(r, "queue")} }

func id(r *http.Request) []byte { return []byte(rest.Name(r, "id")) }

// queues returns the numbers of jobs of all queues that the caller may see.
func (a *api) queues(r *http.Request) (any, error) {
	out := Queues{[]Queue{}}
	for _, v := range a.VHosts(r) {
		if err := a.count(v.Name, &out); err != nil && !errors.Is(err, failure.ErrVHostNotFound) {
			return nil, err
		}
	}
	return out, nil
}

// count adds those queues of a virtual host that are used for jobs.
func (a *api) count(vhost string, out *Queues) error {
	s, err := a.Broker.Operate(vhost)
	if err != nil {
		return err
	}
	defer s.Close()
	all, err := inspect.Queues(s)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(q inspect.QueueStatus) bool { return !q.Jobs })
	var counts []broker.Command
	for i := range all {
		counts = append(counts, &jobs.Counts{OnQueue: broker.OnQueue{Queue: all[i].Name}})
	}
	if err := s.Do(counts...); err != nil {
		return err
	}
	for i, c := range counts {
		if c := c.(*jobs.Counts); c.Err == nil { // otherwise the queue was deleted meanwhile
			day := a.monitor.JobDay(all[i].ID, &all[i].Counts)
			out.Jobs = append(out.Jobs, Queue{vhost, c.Queue, c.Queued, c.Backoff, c.Locked, c.Behind, c.Done, c.DoneBackoff, day})
		}
	}
	return nil
}

// used reports whether a queue is used for jobs. A mere look does not make it a job queue.
func used(s *broker.Session, name string) (bool, error) {
	st, err := inspect.Queue(s, name)
	return st.Jobs, err
}

var (
	states = regexp.MustCompile(`^(|queued|queued-with-backoff|locked|locked-with-requeue|done-awaiting-gc|done-with-backoff|done-with-requeue)$`)
	cursor = regexp.MustCompile(`^(|[md][0-9]{1,20})$`)
)

// list shows the jobs of a queue, or only those in a given state.
func (a *api) list(r *http.Request) (any, error) {
	limit, err := rest.Number(r, "limit", defaultPage, largestPage)
	if err != nil {
		return nil, err
	}
	state, after := r.URL.Query().Get("state"), r.URL.Query().Get("after")
	switch {
	case !states.MatchString(state):
		return nil, rest.BadRequest("state is that of a job: queued, queued-with-backoff, locked, locked-with-requeue, done-awaiting-gc, done-with-backoff or done-with-requeue")
	case !cursor.MatchString(after):
		return nil, rest.BadRequest("after is what a page before gave as next")
	}
	out := Page{Jobs: []Job{}}
	s, err := a.Broker.Operate(rest.Name(r, "vhost"))
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if ok, err := used(s, rest.Name(r, "queue")); !ok || err != nil {
		return out, err
	}
	c := &jobs.Content{OnQueue: on(r), Cursor: after}
	for start := time.Now(); r.Context().Err() == nil; {
		c.Max = limit - len(out.Jobs)
		if err := do(s, c, &c.Err); err != nil {
			return nil, err
		}
		for i := range c.Jobs {
			if j := &c.Jobs[i]; state == "" || j.State.String() == state {
				out.Jobs = append(out.Jobs, shown(j))
			}
		}
		if c.Next == "" || len(out.Jobs) == limit || time.Since(start) > searchTime {
			break
		}
		c.Cursor = c.Next
	}
	out.Next = c.Next
	out.DeadLetterQueues = a.deadLetterQueues(s.VHost(), rest.Name(r, "queue"))
	return out, nil
}

// deadLetterQueues returns the queues to which the failed jobs of a queue go.
func (a *api) deadLetterQueues(vhost, queue string) (names []string) {
	of := inspect.QueueName{VHost: vhost, Name: queue}
	for to := range inspect.DeadLetterQueues(a.Broker, func(n inspect.QueueName) bool { return n == of }) {
		names = append(names, to.Name)
	}
	slices.Sort(names)
	return names
}

// do executes one command.
func do(s *broker.Session, c broker.Command, err *error) error {
	if failed := s.Do(c); failed != nil {
		return failed
	}
	return *err
}

func shown(j *jobs.Info) Job {
	out := Job{
		ID: string(j.ID), State: j.State.String(), Attempts: j.Attempts, Backoff: j.Backoff, Lock: j.Lock, Bytes: j.Size, Priority: j.Priority, Error: j.Error,
	}
	if j.First > 0 {
		out.First = time.UnixMilli(j.First).UTC().Format("2006-01-02T15:04:05.000Z")
	}
	return out
}

var errNoJob = rest.NotFound("nothing is known of a job with that id")

// with calls fn for the queue of a request, which must be used for jobs.
func (a *api) with(r *http.Request, fn func(s *broker.Session) error) error {
	return a.In(r, rest.Name(r, "vhost"), func(_ context.Context, s *broker.Session) error {
		ok, err := used(s, rest.Name(r, "queue"))
		switch {
		case err != nil:
			return err
		case !ok:
			return errNoJob
		}
		return fn(s)
	})
}

func (a *api) status(r *http.Request) (out any, err error) {
	err = a.with(r, func(s *broker.Session) error {
		st := &jobs.Status{OnQueue: on(r), ID: id(r)}
		if err := do(s, st, &st.Err); err != nil {
			return err
		}
		if st.State == 0 {
			return errNoJob
		}
		st.Info.ID = st.ID
		out = shown(&st.Info)
		return nil
	})
	return out, err
}

func (a *api) cancel(r *http.Request) error {
	force, err := rest.Truth(r, "force")
	if err != nil {
		return err
	}
	return a.with(r, func(s *broker.Session) error {
		c := &jobs.Cancel{OnQueue: on(r), ID: id(r), Force: force}
		err := do(s, c, &c.Err)
		if err == nil && !c.Cancelled {
			err = rest.NotFound("no job with that id is queued")
		}
		return err
	})
}

func (a *api) retry(r *http.Request) error {
	return a.with(r, func(s *broker.Session) error {
		c := &jobs.Retime{OnQueue: on(r), ID: id(r)}
		err := do(s, c, &c.Err)
		if err == nil && !c.Retimed {
			err = rest.NotFound("no job with that id is queued; one that has failed is in the dead-letter queue, from where a redrive brings it back")
		}
		return err
	})
}

func (a *api) enqueue(r *http.Request) (rest.Answer, error) {
	e, err := readEnqueue(r)
	if err != nil {
		return rest.Answer{}, err
	}
	err = a.In(r, rest.Name(r, "vhost"), func(_ context.Context, s *broker.Session) error {
		if alarm := a.Broker.Alarm(); alarm != nil {
			return rest.Fail(http.StatusServiceUnavailable, "unavailable", "publishers are blocked: "+alarm.Reason)
		}
		return do(s, e, &e.Err)
	})
	status := http.StatusCreated
	if e.Updated {
		status = http.StatusOK
	}
	return rest.Answer{Status: status, Body: Enqueued{string(e.ID), e.Updated}}, err
}

func readEnqueue(r *http.Request) (*jobs.Enqueue, error) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var in Enqueue
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&in); err != nil {
		return nil, rest.Unreadable(err)
	}
	e := &jobs.Enqueue{
		OnQueue: on(r), ID: []byte(in.ID), Priority: in.Priority, Update: in.Update, Requeue: in.Requeue, ResetBackoff: in.ResetBackoff,
	}
	if e.Body, err = rest.ReadBytes(in.Payload, in.Encoding); err != nil {
		return nil, err
	}
	var headers message.Table
	if headers, err = rest.ReadTable(in.Headers); err != nil {
		return nil, err
	}
	e.Headers = headers
	for _, f := range []struct {
		text string
		to   *int64
	}{{in.Backoff, &e.Backoff}, {in.Lock, &e.Lock}, {in.TTL, &e.TTL}} {
		if f.text == "" {
			continue
		}
		span, err := rest.ParseSpan(f.text)
		if err != nil {
			return nil, err
		}
		*f.to = span.Milliseconds()
	}
	return e, nil
}
