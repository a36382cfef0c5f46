package httpapi

import (
	"context"
	"encoding/base64"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"

	"fiveways/internal/broker"
	"fiveways/internal/core/message"
	"fiveways/internal/core/queue"
)

const (
	defaultPage = 50
	largestPage = 1000
	shownBytes  = 4 << 10 // of a body
)

// messages serves what is in queues and in exchanges that hold messages.
func (a *API) messages() {
	a.get(management, "/api/queues/{vhost}/{queue}/messages", a.browse)
	a.schedules("/api/queues/{vhost}/{name}/scheduled", (*broker.Session).QueueSchedule)
	a.schedules("/api/exchanges/{vhost}/{name}/scheduled", (*broker.Session).ExchangeSchedule)
}

// browse shows the first messages of a queue that are in the state asked for, without touching them.
func (a *API) browse(r *http.Request) (any, error) {
	limit, err := number(r, "limit", defaultPage, largestPage)
	if err != nil {
		return nil, err
	}
	out := []Message{}
	err = a.in(r, name(r, "vhost"), func(ctx context.Context, s *broker.Session) error {
		b, err := s.Browse(name(r, "queue"))
		if err != nil {
			return err
		}
		state := r.URL.Query().Get("state")
		for ctx.Err() == nil { // else the client has gone
			page, err := b.Next(largestPage)
			if err != nil || len(page) == 0 {
				return err
			}
			for i := range page {
				if state == "" || page[i].Status.String() == state {
					out = append(out, newMessage(&page[i]))
				}
				if len(out) == limit {
					return nil
				}
			}
		}
		return nil
	})
	return out, err
}

func newMessage(b *broker.Browsed) Message {
	exchange, key, props, body := b.Env.Split()
	m := Message{
		State: b.Status.String(), Exchange: string(exchange), RoutingKey: string(key), Redelivered: b.Redelivered, Returns: b.Count,
		Bytes: len(body),
	}
	if b.Status == queue.Scheduled {
		m.Due = timeText(b.Due)
	}
	if b.Expires != 0 {
		m.Expires = timeText(b.Expires)
	}
	if p, err := message.DecodeProperties(props); err == nil {
		m.MessageID = p.MessageID
	}
	m.Payload, m.Encoding = payload(body)
	return m
}

// payload shows the beginning of a body. A text ends with a whole character.
func payload(body []byte) (text, encoding string) {
	if len(body) > shownBytes {
		end := shownBytes
		for end > shownBytes-utf8.UTFMax && !utf8.RuneStart(body[end]) {
			end--
		}
		body = body[:end]
	}
	if utf8.Valid(body) {
		return string(body), "string"
	}
	return base64.StdEncoding.EncodeToString(body), "base64"
}

func timeText(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }

// schedules serves the messages that wait for their time in one kind of place.
func (a *API) schedules(path string, open func(*broker.Session, string) (*broker.Schedule, error)) {
	with := func(r *http.Request, fn func(*broker.Schedule) error) error {
		return a.in(r, name(r, "vhost"), func(_ context.Context, s *broker.Session) error {
			sc, err := open(s, name(r, "name"))
			if err != nil {
				return err
			}
			return fn(sc)
		})
	}
	change := func(r *http.Request, fn func(*broker.Schedule) (int, error)) (answer, error) {
		var n int
		err := with(r, func(sc *broker.Schedule) (err error) {
			n, err = fn(sc)
			return err
		})
		if err == nil && n == 0 {
			err = notFound("no message with that id waits for its time there")
		}
		return answer{http.StatusOK, Changed{n}}, err
	}
	a.get(management, path, func(r *http.Request) (out any, err error) {
		err = with(r, func(sc *broker.Schedule) (err error) {
			out, err = schedule(r, sc)
			return err
		})
		return out, err
	})
	a.handle(management, "DELETE "+path+"/{id}", func(r *http.Request) (answer, error) {
		return change(r, func(sc *broker.Schedule) (int, error) { return sc.Cancel(name(r, "id")) })
	})
	a.handle(management, "PUT "+path+"/{id}", func(r *http.Request) (answer, error) {
		var in DueTime
		if err := decode(r, &in); err != nil {
			return answer{}, err
		}
		if in.Due.IsZero() {
			return answer{}, badRequest("due is missing: a time such as 2030-01-31T08:00:00Z")
		}
		return change(r, func(sc *broker.Schedule) (int, error) { return sc.Reschedule(name(r, "id"), in.Due.UnixMilli()) })
	})
}

func schedule(r *http.Request, sc *broker.Schedule) (out Schedule, err error) {
	limit, err := number(r, "limit", defaultPage, largestPage)
	if err != nil {
		return out, err
	}
	from, err := strconv.ParseUint(r.URL.Query().Get("from"), 10, 64)
	if err != nil && r.URL.Query().Has("from") {
		return out, badRequest("from is what a page before gave as next")
	}
	if out.Total, err = sc.Len(); err != nil {
		return out, err
	}
	page, next, err := sc.List(queue.Handle(from), limit)
	out.Messages = list(page, func(m broker.Scheduled) Scheduled {
		return Scheduled{m.MessageID, timeText(m.Due), m.Exchange, m.Key, m.Size}
	})
	if next != 0 {
		out.Next = strconv.FormatUint(uint64(next), 10)
	}
	return out, err
}

// number reads a count from the query.
func number(r *http.Request, key string, unset, most int) (int, error) {
	text := r.URL.Query().Get(key)
	if text == "" {
		return unset, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, badRequest(key + " is a number from 1 to " + strconv.Itoa(most))
	}
	return n, nil
}
