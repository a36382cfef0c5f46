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

// Options configures Run.
type Options struct {
	// Keep leaves everything on Redis: the queue is copied.
	Keep bool
	// Progress is called from time to time with the current report. It may be nil.
	Progress func(Report)
}

// Report is the result of a run, or of a dry run.
type Report struct {
	Found     int                  `json:"found"`   // ids
	Moved     int                  `json:"moved"`   // now on the broker
	There     int                  `json:"there"`   // of those moved, already there
	Forgotten int                  `json:"done"`    // ids of completed jobs: nothing to move
	Changed   int                  `json:"changed"` // ids that changed and were moved again
	Failed    int                  `json:"failed"`  // ids refused or unreadable: left on Redis
	States    map[worker.State]int `json:"states"`  // of the ids found
}

// maxFailures is how many failed ids are reported individually.
const maxFailures = 10

// ErrFailed is wrapped by the error of a run that could not move everything.
var ErrFailed = errors.New("migrate: not everything was moved")

// passes is the maximum number of passes over a queue that is in use. Each pass moves what the
// previous one did not see.
const passes = 100

// Count reports what a run would move.
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

// Run moves a queue. If it fails, the returned report still describes what was moved. Run it again
// to continue.
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

// batchSize is how many ids are moved at once.
const batchSize = carmine.MaxRecords

type mover struct {
	from     *carmine.Jobs
	queue    string
	to       *Target
	options  Options
	seen     map[string]bool // ids to skip: they stay on Redis
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

// move moves the first of some ids, and returns how many. again means that they have changed since
// they were moved: the broker then gets the current content.
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

// remove removes confirmed records from Redis. Records that have changed there meanwhile are moved
// again.
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

// StateNames returns the states that a report counts, in order.
func (r Report) StateNames() []worker.State { return slices.Sorted(maps.Keys(r.States)) }
