package jobs

import "fiveways.dev/fiveways/internal/monitor"

// Queue is a queue that is used for jobs, and how many it has.
type Queue struct {
	VHost       string `json:"vhost"`
	Queue       string `json:"queue"`
	Queued      int    `json:"queued"`       // ready to be taken
	Backoff     int    `json:"backoff"`      // queued, and not ready yet
	Locked      int    `json:"locked"`       // with a worker
	Behind      int    `json:"behind"`       // of the locked, those with another version behind
	Done        int    `json:"done"`         // ids that are remembered
	DoneBackoff int    `json:"done_backoff"` // of the done, those that may not be enqueued again yet

	Day monitor.JobDay `json:"day"` // the last 24 hours
}

// Queues are all queues that are used for jobs.
type Queues struct {
	Jobs []Queue `json:"jobs"`
}

// Job is what is known of a job's id.
type Job struct {
	ID       string `json:"id"`
	State    string `json:"state"`                    // queued, queued-with-backoff, locked, locked-with-requeue, done-awaiting-gc, done-with-backoff or done-with-requeue
	Attempts uint32 `json:"attempts"`                 // how often it was taken
	First    string `json:"first_enqueued,omitempty"` // RFC 3339
	Backoff  int64  `json:"backoff_ms"`               // what is left of it
	Lock     int64  `json:"lock_ms"`                  // what is left of the lease; of a locked one 0 means that a consumer has it, without an end
	Bytes    int    `json:"bytes"`
	Priority uint8  `json:"priority"`
	Error    string `json:"error,omitempty"` // why it was tried again the last time that a report said so; in lists its first KiB
}

// Page is a part of the jobs of a queue.
type Page struct {
	Jobs []Job  `json:"jobs"`
	Next string `json:"next,omitempty"` // for ?after=, when there may be more

	DeadLetterQueues []string `json:"dead_letter_queues,omitempty"` // to which its failed jobs go, by name
}

// Changed says how many jobs were changed at once.
type Changed struct {
	Jobs int `json:"jobs"`
}

// Enqueue is a job to be put into a queue. Durations are such as 30s, or seconds.
type Enqueue struct {
	ID           string         `json:"id"` // "": one is made up
	Payload      string         `json:"payload"`
	Encoding     string         `json:"payload_encoding"` // string or base64
	Headers      map[string]any `json:"headers"`
	Backoff      string         `json:"backoff"`       // it is not taken before
	Lock         string         `json:"lock"`          // how long its lease lasts, whatever the take asks for
	TTL          string         `json:"ttl"`           // how long it lives while no worker has it
	Priority     uint8          `json:"priority"`      //
	Update       bool           `json:"update"`        // take the place of the one with this id that is queued
	Requeue      bool           `json:"requeue"`       // wait behind the one that is locked, or done and remembered
	ResetBackoff bool           `json:"reset_backoff"` // with update: the one that is queued has this backoff from now on
}

// Enqueued says what came of a job that was enqueued.
type Enqueued struct {
	ID      string `json:"id"`
	Updated bool   `json:"updated"` // a job with this id was there, and is changed
}
