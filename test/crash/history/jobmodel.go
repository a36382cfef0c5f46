package history

import (
	"fmt"
	"math"

	"github.com/anishathalye/porcupine"
)

// jobPhase is the phase of a job.
type jobPhase uint8

const (
	jobAbsent jobPhase = iota
	jobWaits
	jobLocked
	jobEnded
)

// jobState is the state of a job in the model.
type jobState struct {
	phase jobPhase
	token int64 // the newest one
	until int64 // jobWaits: not taken before; jobLocked, jobEnded: the lock is held, or the id is remembered, before
}

// jobModel is the model of a job. Each request takes effect at one moment between its sending and
// its answer. A request without an answer may take effect after everything else, which amounts to
// never. Takes without an answer are not operations: they take only what may be taken, and that
// stays so afterwards.
var jobModel = porcupine.Model{
	Partition:         partitionBy(func(op porcupine.Operation) string { return op.Input.(JobEvent).MID }),
	Init:              func() any { return jobState{} },
	Step:              func(state, input, _ any) (bool, any) { return jobStep(state.(jobState), input.(JobEvent)) },
	DescribeOperation: func(input, _ any) string { return fmt.Sprint(input) },
}

// LinearizeJobs is LinearizeKeys for jobs.
func LinearizeJobs(events []JobEvent) (breaches []string) {
	return linearize(jobModel, jobOperations(events))
}

// jobOperations returns the requests of a history that jobModel covers.
func jobOperations(events []JobEvent) (all []porcupine.Operation) {
	for _, e := range events {
		switch e.Kind {
		case JobLost, JobKilled, JobBuried:
			continue
		}
		returned := e.To
		if e.Answer == Unknown {
			returned = math.MaxInt64
		}
		all = append(all, porcupine.Operation{ClientId: e.Worker, Input: e, Call: e.From, Return: returned})
	}
	return all
}

func jobStep(job jobState, e JobEvent) (bool, jobState) {
	next := job
	possible := false // whether the broker can have done it
	switch e.Kind {
	case JobEnqueued:
		possible = job.phase == jobAbsent
		next = jobState{jobWaits, 0, e.From + e.MS}
	case JobTaken:
		possible = (job.phase == jobWaits || job.phase == jobLocked) && e.To >= job.until && e.Token > job.token
		next = jobState{jobLocked, e.Token, e.From + e.MS}
	case JobProbed:
		if e.Answer == Remembered {
			return job.phase == jobEnded, job
		}
		possible = job.phase == jobEnded && e.To >= job.until
		next = jobState{jobWaits, job.token, e.From}
	default:
		possible = job.phase == jobLocked && job.token == e.Token
		if e.Answer == Stale {
			return !possible || e.To >= job.until, job
		}
		next = job.after(e)
	}
	if e.Answer == Unknown && !possible {
		return true, job
	}
	return possible, next
}

// after returns the state of a job after a report that was accepted.
func (job jobState) after(e JobEvent) jobState {
	job.until = e.From + e.MS
	switch e.Kind {
	case JobRetried:
		job.phase = jobWaits
	case JobDone, JobFailed:
		job.phase = jobEnded
	}
	return job
}
