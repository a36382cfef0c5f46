package jobs

import (
	"net/http"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/jobs"
	"fiveways.dev/fiveways/internal/core/job"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// retryAll ends the backoff of all jobs of a queue.
func (a *api) retryAll(r *http.Request) (rest.Answer, error) {
	return a.changeAll(r, job.QueuedWithBackoff, func(id []byte) (broker.Command, func() bool) {
		c := &jobs.Retime{OnQueue: on(r), ID: id}
		return c, func() bool { return c.Err == nil && c.Retimed }
	})
}

// cancelAll removes all jobs of a queue that are in the state that the query names: queued, or
// queued-with-backoff.
func (a *api) cancelAll(r *http.Request) (rest.Answer, error) {
	state := job.Queued
	switch r.URL.Query().Get("state") {
	case job.Queued.String():
	case job.QueuedWithBackoff.String():
		state = job.QueuedWithBackoff
	default:
		return rest.Answer{}, rest.BadRequest("state is that of the jobs to be cancelled: queued or queued-with-backoff")
	}
	return a.changeAll(r, state, func(id []byte) (broker.Command, func() bool) {
		c := &jobs.Cancel{OnQueue: on(r), ID: id}
		return c, func() bool { return c.Err == nil && c.Cancelled }
	})
}

// changeAll applies a change to each job in a state. It skips jobs that leave the state meanwhile,
// and stops early when the client disconnects.
func (a *api) changeAll(r *http.Request, state job.State, change func(id []byte) (c broker.Command, done func() bool)) (rest.Answer, error) {
	var out Changed
	err := a.with(r, func(s *broker.Session) error {
		page := &jobs.Content{OnQueue: on(r), Max: largestPage}
		for r.Context().Err() == nil {
			if err := do(s, page, &page.Err); err != nil {
				return err
			}
			var commands []broker.Command
			var answers []func() bool
			for i := range page.Jobs {
				if page.Jobs[i].State == state {
					c, done := change(page.Jobs[i].ID)
					commands, answers = append(commands, c), append(answers, done)
				}
			}
			if err := s.Do(commands...); err != nil {
				return err
			}
			for _, done := range answers {
				if done() {
					out.Jobs++
				}
			}
			if page.Cursor = page.Next; page.Next == "" {
				break
			}
		}
		return nil
	})
	return rest.Answer{Status: http.StatusOK, Body: out}, err
}
