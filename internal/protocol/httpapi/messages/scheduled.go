package messages

import (
	"context"
	"net/http"
	"strconv"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/schedule"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// schedules serves scheduled messages in queues and in delayed-message exchanges.
func (a *api) schedules() {
	a.schedulesOf("/api/queues/{vhost}/{name}/scheduled", schedule.OfQueue)
	a.schedulesOf("/api/exchanges/{vhost}/{name}/scheduled", schedule.OfExchange)
}

// schedulesOf serves the paths for one kind of object.
func (a *api) schedulesOf(path string, open func(*broker.Session, string) (*schedule.Schedule, error)) {
	with := func(r *http.Request, fn func(*schedule.Schedule) error) error {
		return a.In(r, rest.Name(r, "vhost"), func(_ context.Context, s *broker.Session) error {
			sc, err := open(s, rest.Name(r, "name"))
			if err != nil {
				return err
			}
			return fn(sc)
		})
	}
	a.Get(rest.Management, path, func(r *http.Request) (out any, err error) {
		err = with(r, func(sc *schedule.Schedule) (err error) {
			out, err = scheduled(r, sc)
			return err
		})
		return out, err
	})
	for tail, named := range map[string]func(*http.Request, *schedule.Schedule) (waiting, error){"/{id}": byMessageID, "/at/{id}": byPlace} {
		change := func(r *http.Request, fn func(waiting) (int, error)) (rest.Answer, error) {
			var n int
			err := with(r, func(sc *schedule.Schedule) error {
				w, err := named(r, sc)
				if err == nil {
					n, err = fn(w)
				}
				return err
			})
			if err == nil && n == 0 {
				err = errNoneWaits
			}
			return rest.Answer{Status: http.StatusOK, Body: Changed{n}}, err
		}
		a.Handle(rest.Management, "DELETE "+path+tail, func(r *http.Request) (rest.Answer, error) { return change(r, waiting.cancel) })
		a.Handle(rest.Management, "PUT "+path+tail, func(r *http.Request) (rest.Answer, error) {
			var in DueTime
			if err := rest.Decode(r, &in); err != nil {
				return rest.Answer{}, err
			}
			if in.Due.IsZero() {
				return rest.Answer{}, rest.BadRequest("due is missing: a time such as 2030-01-31T08:00:00Z")
			}
			return change(r, func(w waiting) (int, error) { return w.reschedule(in.Due.UnixMilli()) })
		})
	}
}

var errNoneWaits = rest.NotFound("no message with that id waits for its time there")

// waiting selects messages of a schedule: all with a message id, or the one at a position, which
// needs no message id.
type waiting struct {
	of        *schedule.Schedule
	messageID string
	at        queue.Handle // 0: the messages with the message id
}

func byMessageID(r *http.Request, sc *schedule.Schedule) (waiting, error) {
	return waiting{of: sc, messageID: rest.Name(r, "id")}, nil
}

func byPlace(r *http.Request, sc *schedule.Schedule) (waiting, error) {
	p, err := parsePlace(rest.Name(r, "id"))
	if err == nil && p.queue != sc.QueueID() {
		err = errNoneWaits
	}
	return waiting{of: sc, at: p.handle}, err
}

func (w waiting) cancel() (int, error) {
	if w.at != 0 {
		return w.of.CancelAt(w.at)
	}
	return w.of.Cancel(w.messageID)
}

func (w waiting) reschedule(due int64) (int, error) {
	if w.at != 0 {
		return w.of.RescheduleAt(w.at, due)
	}
	return w.of.Reschedule(w.messageID, due)
}

func scheduled(r *http.Request, sc *schedule.Schedule) (out Schedule, err error) {
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
	out.Messages = rest.List(page, func(m schedule.Message) Scheduled {
		return Scheduled{place{sc.QueueID(), m.Handle}.String(), m.MessageID, timeText(m.Due), m.Exchange, m.Key, m.Size}
	})
	if next != 0 {
		out.Next = strconv.FormatUint(uint64(next), 10)
	}
	return out, err
}
