package messages

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/selector"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// searchTime limits how long a request searches for messages. The next request continues where it
// stopped.
const searchTime = time.Second

// browsing serves paths that show the messages of a queue without taking them, and delete those
// that match a filter.
func (a *api) browsing() {
	const path = "/api/queues/{vhost}/{queue}/messages"
	a.Get(rest.Management, path, a.browse)
	a.Handle(rest.Management, "DELETE "+path, a.removeAll)
}

// search holds the conditions of a request for messages of a queue.
type search struct {
	state    string // "": any
	limit    int
	after    *place             // nil: from the beginning
	filter   *selector.Selector // nil: any
	contains []byte             // substring anywhere in the message, including its properties
}

func readSearch(r *http.Request) (q search, err error) {
	get := r.URL.Query().Get
	if q.limit, err = rest.Number(r, "limit", defaultPage, largestPage); err != nil {
		return q, err
	}
	switch q.state = get("state"); q.state {
	case "", "ready", "unacked", "scheduled", "blocked":
	default:
		return q, rest.BadRequest("state is ready, unacked, scheduled or blocked")
	}
	if text := get("after"); text != "" {
		p, err := parsePlace(text)
		if err != nil {
			return q, rest.BadRequest("after is what a page before gave as next")
		}
		q.after = &p
	}
	q.filter, err = readFilter(get("filter"))
	q.contains = []byte(get("contains"))
	return q, err
}

// readFilter compiles a selector. It returns nil for "".
func readFilter(text string) (*selector.Selector, error) {
	if text == "" {
		return nil, nil
	}
	f, err := selector.Compile(text)
	if err != nil {
		return nil, rest.BadRequest("filter: " + err.Error())
	}
	return f, nil
}

func (q *search) wants(m *inspect.Message) bool {
	return (q.state == "" || m.Status.String() == q.state) && (q.filter == nil || q.filter.Match(m.Env)) && bytes.Contains(m.Env, q.contains)
}

// browse returns a page of the messages that match a request.
func (a *api) browse(r *http.Request) (any, error) {
	q, err := readSearch(r)
	if err != nil {
		return nil, err
	}
	var out Page
	err = a.In(r, rest.Name(r, "vhost"), func(ctx context.Context, s *broker.Session) error {
		b, err := inspect.Browse(s, rest.Name(r, "queue"))
		if err != nil {
			return err
		}
		out, err = q.run(ctx, b)
		return err
	})
	return out, err
}

// run searches until the page is full, the queue ends, or the time is over.
func (q *search) run(ctx context.Context, b *inspect.Browser) (Page, error) {
	out := Page{Messages: []Message{}}
	if q.after != nil && q.after.queue == b.Queue().ID { // otherwise the queue has been deleted and declared again
		b.After(q.after.handle)
	}
	for start := time.Now(); ctx.Err() == nil; {
		page, err := b.Next(largestPage)
		if err != nil || len(page) == 0 {
			out.Next = ""
			return out, err
		}
		for i := range page {
			m := &page[i]
			if q.wants(m) {
				if len(out.Messages) == q.limit {
					return out, nil
				}
				out.Messages = append(out.Messages, shownAs(b.Queue().ID, m, shownBytes))
			}
			out.Scanned++
			out.Next = place{b.Queue().ID, m.Handle}.String()
		}
		if time.Since(start) > searchTime {
			return out, nil
		}
	}
	return out, ctx.Err() // the client is gone
}

// keep returns the predicate of a selector, which is always true if f is nil.
func keep(f *selector.Selector) func(message.Envelope) bool {
	if f == nil {
		return func(message.Envelope) bool { return true }
	}
	return f.Match
}
