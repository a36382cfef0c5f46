package lua

import _ "embed"

// The scripts. ARGV after the time:
//
//	Enqueue  mid, body, backoff ms, lock ms, flags (any of u: update, q: requeue, b: reset backoff) → added, updated, already-queued, locked or backoff
//	Take     most, lock ms → for each job mid, body, attempt, token, lock ms, first
//	Report   mid, token, done|retry|fail, backoff ms → 1, or 0 when the token is not that of a lock that holds
//	Extend   mid, token, ms → as Report
//	Cancel   mid → 1 when it was queued, also again after it was done, and is gone; else 0
//	Status   mid → status, attempts, first, ms of backoff left, ms of lock left; nil when there is no such job
var (
	//go:embed enqueue.lua
	Enqueue string
	//go:embed take.lua
	Take string
	//go:embed report.lua
	Report string
	//go:embed extend.lua
	Extend string
	//go:embed cancel.lua
	Cancel string
	//go:embed status.lua
	Status string
)

// Key returns the key of a queue.
func Key(queue string) string { return "{" + queue + "}" }
