package migrate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"fiveways.dev/fiveways/worker"
	"fiveways.dev/fiveways/worker/carmine"
)

// Options of Run.
type Options struct {
	// Keep leaves everything on the Redis: the queue is copied.
	Keep bool
	// Progress is called now and then with the progress; may be nil.
	Progress func(Report)
}

// Report is what a run did, or a dry run found.
type Report struct {
	Found     int                  `json:"found"`   // ids
	Moved     int                  `json:"moved"`   // that the broker has now
	There     int                  `json:"there"`   // of them, those that it had already
	Forgotten int                  `json:"done"`    // ids that were done with: nothing was to be moved
	Changed   int                  `json:"changed"` // ids that changed while they were moved, and were moved once more
	Failed    int                  `json:"failed"`  // ids that the broker does not take, or that cannot be read; they stay on the Redis
	States    map[worker.State]int `json:"states"`  // of the ids found
}

// maxFailures is how many failed ids are told one by one.
const maxFailures = 10

// ErrFailed is wrapped by the error of a run that could not move all.
var ErrFailed = errors.New("migrate: not everything was moved")

// passes bounds how often a queue that is in use is gone through; each pass moves what was not
// there at the one before.
const passes = 100

// Count tells what a run would move.
func Count(ctx context.Context, from *carmine.Jobs, queue string) (Report, error) {
	m := mover{from: from, queue: queue, report: Report{States: map[worker.State]int{}}}
	mids, err := from.MIDs(ctx, queue)
	if err != nil {
		return m.report, err
	}
	for len(mids) > 0 {
		records, err := from.Records(ctx, queue, mids[:min(len(mids), batchSize)])
		if err != nil {
			return m.report, err
		}
		m.count(records)
		mids = mids[len(records):]
	}
	return m.report, nil
}

// Run moves a queue. What it returns with an error was done nevertheless; run again to go on.
func Run(ctx context.Context, from *carmine.Jobs, queue string, to *Target, o Options) (Report, error) {
	m := mover{from: from, queue: queue, to: to, options: o, seen: map[string]bool{}, report: Report{States: map[worker.State]int{}}}
	for range passes {
		mids, err := from.MIDs(ctx, queue)
		if err != nil {
			return m.report, err
		}
		if mids = slices.DeleteFunc(mids, func(mid string) bool { return m.seen[mid] }); len(mids) == 0 {
			break
		}
		for len(mids) > 0 {
			n, err := m.move(ctx, mids[:min(len(mids), batchSize)], false)
			if err != nil {
				return m.report, err
			}
			mids = mids[n:]
			if o.Progress != nil {
				o.Progress(m.report)
			}
		}
	}
	if m.report.Failed > 0 {
		return m.report, fmt.Errorf("%w: %d ids stay at the source\n%w", ErrFailed, m.report.Failed, errors.Join(m.failures...))
	}
	if o.Keep {
		return m.report, nil
	}
	tidy, err := from.Tidy(ctx, queue)
	if err == nil && !tidy {
		err = fmt.Errorf("%w: jobs still arrive there: let the producers use the broker, and run again", ErrFailed)
	}
	return m.report, err
}

// batchSize is how many ids are on their way at once.
const batchSize = carmine.MaxRecords

type mover struct {
	from     *carmine.Jobs
	queue    string
	to       *Target
	options  Options
	seen     map[string]bool // ids that are not to be looked at again: they stay on the Redis
	report   Report
	failures []error
}

func (m *mover) count(records []carmine.Record) {
	for _, r := range records {
		if r.State != worker.None {
			m.report.Found++
			m.report.States[r.State]++
		}
	}
}

// move moves the first of some ids, and tells how many. again says that they changed since they
// were moved: then the broker gets the content of now.
func (m *mover) move(ctx context.Context, mids []string, again bool) (int, error) {
	records, err := m.from.Records(ctx, m.queue, mids)
	if err != nil {
		return 0, err
	}
	if !again {
		m.count(records)
	}
	outcomes, err := m.to.put(ctx, records, again)
	if err != nil {
		return 0, err
	}
	var arrived []carmine.Record
	for i, o := range outcomes {
		if o.failed != nil || m.options.Keep {
			m.seen[mids[i]] = true
		}
		if o.failed != nil {
			m.report.Failed++
			if len(m.failures) < maxFailures {
				m.failures = append(m.failures, o.failed)
			}
			continue
		}
		if !again {
			m.tally(&records[i], o)
		}
		arrived = append(arrived, records[i])
	}
	if m.options.Keep || len(arrived) == 0 {
		return len(records), nil
	}
	return len(records), m.remove(ctx, arrived)
}

func (m *mover) tally(r *carmine.Record, o outcome) {
	switch {
	case r.State == worker.None:
	case r.State == worker.DoneAwaitingGC:
		m.report.Forgotten++
	default:
		m.report.Moved++
		if o.there {
			m.report.There++
		}
	}
}

// remove takes what has arrived off the Redis. What has changed there meanwhile is moved once more.
func (m *mover) remove(ctx context.Context, arrived []carmine.Record) error {
	removed, err := m.from.Remove(ctx, m.queue, arrived)
	if err != nil {
		return err
	}
	var changed []string
	for i, r := range arrived {
		if !removed[i] {
			changed = append(changed, r.MID)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	m.report.Changed += len(changed)
	for len(changed) > 0 {
		n, err := m.move(ctx, changed, true)
		if err != nil {
			return err
		}
		changed = changed[n:]
	}
	return nil
}

// StateNames are the states that a report counts, in order.
func (r Report) StateNames() []worker.State { return slices.Sorted(maps.Keys(r.States)) }
