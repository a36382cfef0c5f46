package history

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
)

// jobRun is a history sorted by job.
type jobRun struct {
	jobs  map[string]*jobStory
	lost  []JobEvent
	kills []JobEvent
}

// jobStory is the history of one id.
type jobStory struct {
	mid      string
	enqueued []JobEvent
	leases   []*jobLease // sorted by token
	probes   []JobEvent
	buried   int
}

// jobLease is a take and the reports with its token.
type jobLease struct {
	JobEvent
	reports []JobEvent // in the order of sending
}

// CheckJobs returns the breaches in the history of a finished run, one line each, or nil. The run
// must end with workers that handle jobs until there are none left, and with a look at the whole
// dead-letter queue.
func CheckJobs(events []JobEvent) []string {
	r := sortJobs(events)
	var breaches []string
	for _, mid := range slices.Sorted(maps.Keys(r.jobs)) {
		j := r.jobs[mid]
		for _, rule := range []func(*jobRun, *jobStory) []string{
			checkTokens, checkExclusive, checkAnswers, checkHandled, checkFinished, checkAttempts, checkBackoffs, checkRemembered, checkDeadJob,
		} {
			for _, breach := range rule(r, j) {
				breaches = append(breaches, mid+": "+breach)
			}
		}
	}
	return breaches
}

func sortJobs(events []JobEvent) *jobRun {
	r := &jobRun{jobs: map[string]*jobStory{}}
	leases := map[string]map[int64]*jobLease{}
	for _, e := range events {
		switch e.Kind {
		case JobLost:
			r.lost = append(r.lost, e)
			continue
		case JobKilled:
			r.kills = append(r.kills, e)
			continue
		}
		j := r.jobs[e.MID]
		if j == nil {
			j = &jobStory{mid: e.MID}
			r.jobs[e.MID], leases[e.MID] = j, map[int64]*jobLease{}
		}
		switch e.Kind {
		case JobEnqueued:
			j.enqueued = append(j.enqueued, e)
		case JobProbed:
			j.probes = append(j.probes, e)
		case JobBuried:
			j.buried++
		case JobTaken:
			l := &jobLease{JobEvent: e}
			j.leases = append(j.leases, l)
			leases[e.MID][e.Token] = l
		default:
			if l := leases[e.MID][e.Token]; l != nil {
				l.reports = append(l.reports, e)
			}
		}
	}
	for _, j := range r.jobs {
		slices.SortStableFunc(j.leases, func(a, b *jobLease) int { return cmp.Compare(a.Token, b.Token) })
	}
	return r
}

// heldUntil returns the time before which the lock of a lease is certainly held, however long
// answers took, given some of its reports. The lock is held until it expires or until its worker
// requested its end.
func (l *jobLease) heldUntil(reports []JobEvent) int64 {
	end := l.From + l.MS
	for _, r := range reports {
		switch {
		case r.Answer == Stale:
		case r.Kind != JobExtended:
			end = min(end, r.From)
		case r.Answer == Good:
			end = r.From + r.MS
		default:
			end = min(end, r.From+r.MS)
		}
	}
	return end
}

// askedBy returns the reports that were sent by the time at.
func (l *jobLease) askedBy(at int64) (reports []JobEvent) {
	for _, r := range l.reports {
		if r.From <= at {
			reports = append(reports, r)
		}
	}
	return reports
}

// overBy returns the time from which the lock of a lease is certainly over, given some of its
// reports.
func (l *jobLease) overBy(reports []JobEvent) int64 {
	end := l.To + l.MS
	for _, r := range reports {
		switch {
		case r.Answer == Stale:
		case r.Kind == JobExtended:
			end = max(end, r.To+r.MS)
		case r.Answer == Good:
			return r.To
		}
	}
	return end
}

// checkTokens checks that every take has a unique token, and later takes have greater ones.
func checkTokens(_ *jobRun, j *jobStory) (breaches []string) {
	for n, l := range j.leases {
		if n > 0 && l.Token == j.leases[n-1].Token {
			breaches = append(breaches, fmt.Sprintf("token %d was given twice", l.Token))
		}
		if n > 0 && l.To < j.leases[n-1].From {
			breaches = append(breaches, fmt.Sprintf("token %d is greater than %d, which was given later", l.Token, j.leases[n-1].Token))
		}
	}
	return breaches
}

// checkExclusive checks that a job is not taken while another worker's lock on it is valid. If two
// takes have the same millisecond, the one with the smaller token was first.
func checkExclusive(_ *jobRun, j *jobStory) (breaches []string) {
	for _, a := range j.leases {
		for _, b := range j.leases {
			after := b.From > a.To || b.From == a.To && b.Token > a.Token
			if after && b.To < a.heldUntil(a.askedBy(b.To)) {
				breaches = append(breaches, fmt.Sprintf("[%s] while the lock of [%s] held", b.JobEvent, a.JobEvent))
			}
		}
	}
	return breaches
}

// checkAnswers checks that a report is refused if and only if the lock is over.
func checkAnswers(_ *jobRun, j *jobStory) (breaches []string) {
	for n, l := range j.leases {
		for i, r := range l.reports {
			if r.Answer == Stale && r.To < l.heldUntil(l.reports[:i]) {
				breaches = append(breaches, fmt.Sprintf("[%s] was refused while its lock held", r))
			}
			if r.Answer == Good && r.From > l.overBy(l.reports[:i]) {
				breaches = append(breaches, fmt.Sprintf("[%s] was accepted after its lock was over", r))
			}
			if r.Answer == Good && n+1 < len(j.leases) && j.leases[n+1].To < r.From {
				breaches = append(breaches, fmt.Sprintf("[%s] was accepted after [%s]", r, j.leases[n+1].JobEvent))
			}
		}
	}
	return breaches
}

// ending returns the first report that may have ended the job for good (maybe), and whether one
// certainly did (sure).
func (j *jobStory) ending(kinds ...JobKind) (e JobEvent, maybe, sure bool) {
	for _, l := range j.leases {
		for _, r := range l.reports {
			if slices.Contains(kinds, r.Kind) && r.Answer != Stale {
				if r.Answer == Good {
					return r, true, true
				}
				if !maybe {
					e, maybe = r, true
				}
			}
		}
	}
	return e, maybe, false
}

// checkHandled checks that each job that was certainly enqueued was handled to its end.
func checkHandled(_ *jobRun, j *jobStory) []string {
	sure := slices.ContainsFunc(j.enqueued, func(e JobEvent) bool { return e.Answer == Good })
	if _, ended, _ := j.ending(JobDone, JobFailed); sure && !ended {
		return []string{fmt.Sprintf("was enqueued, taken %d times, and never handled to its end", len(j.leases))}
	}
	if len(j.enqueued) == 0 {
		return []string{"was taken and never enqueued"}
	}
	return nil
}

// checkFinished checks that a finished job is never taken again.
func checkFinished(_ *jobRun, j *jobStory) (breaches []string) {
	end, _, sure := j.ending(JobDone, JobFailed)
	for _, l := range j.leases {
		if sure && l.Token > end.Token && l.From >= end.To {
			breaches = append(breaches, fmt.Sprintf("[%s] after [%s]", l.JobEvent, end))
		}
	}
	return breaches
}

// checkAttempts checks that each take counts one attempt more than the previous take, or more only
// if takes in between had no answer.
func checkAttempts(r *jobRun, j *jobStory) (breaches []string) {
	before, from := 0, int64(math.MinInt64)
	for _, l := range j.leases {
		unseen := 0
		for _, lost := range r.lost {
			if lost.To >= from && lost.From <= l.To {
				unseen++
			}
		}
		if more := l.Attempt - before; more < 1 || more > 1+unseen {
			breaches = append(breaches, fmt.Sprintf("[%s]: attempt %d after attempt %d, with %d takes unanswered in between", l.JobEvent, l.Attempt, before, unseen))
		}
		before, from = l.Attempt, l.From
	}
	return breaches
}

// checkBackoffs checks that no job is taken before its backoff is over.
func checkBackoffs(_ *jobRun, j *jobStory) (breaches []string) {
	early := func(l *jobLease, notBefore int64, of JobEvent) {
		if l.To < notBefore {
			breaches = append(breaches, fmt.Sprintf("[%s] before the backoff of [%s] was over", l.JobEvent, of))
		}
	}
	for n, l := range j.leases {
		if len(j.enqueued) == 1 {
			early(l, j.enqueued[0].From+j.enqueued[0].MS, j.enqueued[0])
		}
		if n == 0 {
			continue
		}
		for _, r := range j.leases[n-1].reports {
			if r.Kind == JobRetried && r.Answer == Good {
				early(l, r.From+r.MS, r)
			}
		}
	}
	return breaches
}

// checkRemembered checks that an id is refused while it is remembered.
func checkRemembered(_ *jobRun, j *jobStory) (breaches []string) {
	done, _, sure := j.ending(JobDone)
	for _, p := range j.probes {
		if sure && p.From >= done.To && p.To < done.From+done.MS && p.Answer == Good {
			breaches = append(breaches, fmt.Sprintf("[%s] was accepted while [%s] had it remembered", p, done))
		}
	}
	return breaches
}

// checkDeadJob checks that the dead-letter queue has the failed jobs and nothing else. A kill
// between the copy and the removal of the original makes a second copy.
func checkDeadJob(r *jobRun, j *jobStory) (breaches []string) {
	failed, maybe, sure := j.ending(JobFailed)
	copies := 1
	for _, k := range r.kills {
		if k.From >= failed.From {
			copies++
		}
	}
	switch {
	case j.buried > copies:
		return []string{fmt.Sprintf("%d dead letters", j.buried)}
	case sure && j.buried == 0:
		return []string{"failed and no dead letter"}
	case !maybe && j.buried == 1:
		return []string{"a dead letter, and it never failed"}
	}
	return nil
}
