package jobs

import "fiveways.dev/fiveways/internal/monitor"

// Queue is a queue that is used for jobs, with the numbers of its jobs.
type Queue struct {
	VHost       string `json:"vhost"`
	Queue       string `json:"queue"`
	Queued      int    `json:"queued"`       // ready to be taken
	Backoff     int    `json:"backoff"`      // queued, but not ready yet
	Locked      int    `json:"locked"`       // leased by a worker
	Behind      int    `json:"behind"`       // locked jobs with a newer version queued behind them
	Done        int    `json:"done"`         // ids that are remembered
	DoneBackoff int    `json:"done_backoff"` // done jobs that may not be enqueued again yet

	Day monitor.JobDay `json:"day"` // the last 24 hours
}

// Queues are all queues that are used for jobs.
type Queues struct {
	Jobs []Queue `json:"jobs"`
}

// Job is the state of a job by its id.
type Job struct {
	ID       string `json:"id"`
	State    string `json:"state"`                    // queued, queued-with-backoff, locked, locked-with-requeue, done-awaiting-gc, done-with-backoff or done-with-requeue
	Attempts uint32 `json:"attempts"`                 // how often it was taken
	First    string `json:"first_enqueued,omitempty"` // RFC 3339
	Backoff  int64  `json:"backoff_ms"`               // what is left of the backoff
	Lock     int64  `json:"lock_ms"`                  // what is left of the lease; 0 for a locked job means that a consumer holds it, without an end
	Bytes    int    `json:"bytes"`
	Priority uint8  `json:"priority"`
	Error    string `json:"error,omitempty"` // why it was last retried, if the worker reported that; in lists its first KiB
}

// Page is a part of the jobs of a queue.
type Page struct {
	Jobs []Job  `json:"jobs"`
	Next string `json:"next,omitempty"` // for ?after=, when there may be more

	DeadLetterQueues []string `json:"dead_letter_queues,omitempty"` // names of the queues to which its failed jobs go
}

// Changed is the number of jobs that were changed at once.
type Changed struct {
	Jobs int `json:"jobs"`
}

// Enqueue is a job to be enqueued. Durations are written like 30s, or as seconds.
type Enqueue struct {
	ID           string         `json:"id"` // "": one is generated
	Payload      string         `json:"payload"`
	Encoding     string         `json:"payload_encoding"` // string or base64
	Headers      map[string]any `json:"headers"`
	Backoff      string         `json:"backoff"`       // delay before the job can be taken
	Lock         string         `json:"lock"`          // length of its lease, whatever the take asks for
	TTL          string         `json:"ttl"`           // how long it lives while no worker holds it
	Priority     uint8          `json:"priority"`      //
	Update       bool           `json:"update"`        // replace the queued job with this id
	Requeue      bool           `json:"requeue"`       // wait behind a job with this id that is locked, or done and remembered
	ResetBackoff bool           `json:"reset_backoff"` // with update: the queued job gets this backoff, from now on
}

// Enqueued is the outcome of enqueuing a job.
type Enqueued struct {
	ID      string `json:"id"`
	Updated bool   `json:"updated"` // a job with this id existed and was changed
}
