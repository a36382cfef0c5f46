package messages

import (
	"context"
	"net/http"
	"strconv"

	"fiveways/internal/broker"
	"fiveways/internal/core/queue"
	"fiveways/internal/protocol/httpapi/rest"
)

// schedules serves the messages that wait for their time, in queues and in exchanges that hold messages.
func (a *api) schedules() {
	a.schedulesOf("/api/queues/{vhost}/{name}/scheduled", (*broker.Session).QueueSchedule)
	a.schedulesOf("/api/exchanges/{vhost}/{name}/scheduled", (*broker.Session).ExchangeSchedule)
}

// schedulesOf serves those of one kind of place.
func (a *api) schedulesOf(path string, open func(*broker.Session, string) (*broker.Schedule, error)) {
	with := func(r *http.Request, fn func(*broker.Schedule) error) error {
		return a.In(r, rest.Name(r, "vhost"), func(_ context.Context, s *broker.Session) error {
			sc, err := open(s, rest.Name(r, "name"))
			if err != nil {
				return err
			}
			return fn(sc)
		})
	}
	change := func(r *http.Request, fn func(*broker.Schedule) (int, error)) (rest.Answer, error) {
		var n int
		err := with(r, func(sc *broker.Schedule) (err error) {
			n, err = fn(sc)
			return err
		})
		if err == nil && n == 0 {
			err = rest.NotFound("no message with that id waits for its time there")
		}
		return rest.Answer{Status: http.StatusOK, Body: Changed{n}}, err
	}
	a.Get(rest.Management, path, func(r *http.Request) (out any, err error) {
		err = with(r, func(sc *broker.Schedule) (err error) {
			out, err = schedule(r, sc)
			return err
		})
		return out, err
	})
	a.Handle(rest.Management, "DELETE "+path+"/{id}", func(r *http.Request) (rest.Answer, error) {
		return change(r, func(sc *broker.Schedule) (int, error) { return sc.Cancel(rest.Name(r, "id")) })
	})
	a.Handle(rest.Management, "PUT "+path+"/{id}", func(r *http.Request) (rest.Answer, error) {
		var in DueTime
		if err := rest.Decode(r, &in); err != nil {
			return rest.Answer{}, err
		}
		if in.Due.IsZero() {
			return rest.Answer{}, rest.BadRequest("due is missing: a time such as 2030-01-31T08:00:00Z")
		}
		return change(r, func(sc *broker.Schedule) (int, error) { return sc.Reschedule(rest.Name(r, "id"), in.Due.UnixMilli()) })
	})
}

func schedule(r *http.Request, sc *broker.Schedule) (out Schedule, err error) {
	limit, err := rest.Number(r, "limit", defaultPage, largestPage)
	if err != nil {
		return out, err
	}
	from, err := strconv.ParseUint(r.URL.Query().Get("from"), 10, 64)
	if err != nil && r.URL.Query().Has("from") {
		return out, rest.BadRequest("from is what a page before gave as next")
	}
	if out.Total, err = sc.Len(); err != nil {
		return out, err
	}
	page, next, err := sc.List(queue.Handle(from), limit)
	out.Messages = rest.List(page, func(m broker.Scheduled) Scheduled {
		return Scheduled{m.MessageID, timeText(m.Due), m.Exchange, m.Key, m.Size}
	})
	if next != 0 {
		out.Next = strconv.FormatUint(uint64(next), 10)
	}
	return out, err
}
