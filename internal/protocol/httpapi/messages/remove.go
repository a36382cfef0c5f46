package messages

import (
	"context"
	"net/http"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/loans"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// removeAll deletes the ready messages of a queue that match a selector. It stops early when the
// client disconnects.
func (a *api) removeAll(r *http.Request) (rest.Answer, error) {
	filter, err := readFilter(r.URL.Query().Get("filter"))
	if err == nil && filter == nil {
		err = rest.BadRequest("filter is missing: a selector of the messages to be deleted; DELETE …/contents deletes all that are ready")
	}
	if err != nil {
		return rest.Answer{}, err
	}
	var out Changed
	err = a.In(r, rest.Name(r, "vhost"), func(ctx context.Context, s *broker.Session) error {
		if err := s.MayConsume(rest.Name(r, "queue")); err != nil {
			return err
		}
		sweep, err := loans.NewSweep(s, rest.Name(r, "queue"), filter.Match)
		if err != nil {
			return err
		}
		for ctx.Err() == nil {
			n, err := removeNext(s, sweep)
			out.Messages += n
			if n == 0 || err != nil {
				return err
			}
		}
		return nil
	})
	return rest.Answer{Status: http.StatusOK, Body: out}, err
}

// removeNext deletes the next messages of a sweep and returns how many. It returns 0 at the end.
func removeNext(s *broker.Session, sweep *loans.Sweep) (int, error) {
	lent, err := sweep.Next(batchMessages)
	if err != nil || len(lent) == 0 {
		return 0, err
	}
	tx := s.NewTx()
	for i := range lent {
		tx.Ack(lent[i].Queue, nil, lent[i].Handle, 1)
	}
	if err := tx.Commit(); err != nil {
		putBack(s, lent)
		return 0, err
	}
	return len(lent), nil
}
