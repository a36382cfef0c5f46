package carmine

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"fiveways.dev/fiveways/worker"
)

//go:embed lua/read.lua
var readLua string

//go:embed lua/remove.lua
var removeLua string

//go:embed lua/tidy.lua
var tidyLua string

var (
	readScript   = redis.NewScript(commonLua + readLua)
	removeScript = redis.NewScript(commonLua + removeLua)
	tidyScript   = redis.NewScript(commonLua + tidyLua)
)

// Record is everything that Redis stores about an id, for moving it elsewhere.
type Record struct {
	worker.Entry
	Version
	Behind *Version // waits until the first version is done; nil if there is none
	// Unreadable is an error that wraps worker.ErrUnreadable if the content of a version cannot be
	// read. Then both are empty.
	Unreadable error

	fingerprint string
}

// Version is the content of an enqueue.
type Version struct {
	Body        []byte
	ContentType string
	OwnLock     time.Duration // the job's lock time; 0: the worker's
}

// MaxRecords is the maximum number of ids for Records and Remove: while a script runs, Redis serves
// no other client.
const MaxRecords = 500

// maxRead is the number of content bytes after which Records reads no further id.
const maxRead = 8 << 20

var errTooMany = fmt.Errorf("carmine: more than %d ids at once", MaxRecords)

// MIDs returns all ids of a queue, each once, in the order in which workers would visit them. Ids
// of a queue in use may be missing.
func (j *Jobs) MIDs(ctx context.Context, queue string) (mids []string, err error) {
	if err := j.open(); err != nil {
		return nil, err
	}
	seen := map[string]bool{marker: true}
	add := func(mid string) {
		if !seen[mid] {
			seen[mid] = true
			mids = append(mids, mid)
		}
	}
	for _, list := range []string{"mids-ready", "mid-circle"} {
		const page = 5000
		for end := int64(-1); ; end -= page {
			some, err := j.client.LRange(ctx, key(queue, list), end-page+1, end).Result()
			if err != nil {
				return nil, fmt.Errorf("carmine: ids of %s: %w", queue, err)
			}
			for _, mid := range slices.Backward(some) {
				add(mid)
			}
			if len(some) < page {
				break
			}
		}
	}
	// Messages that are in no list are not found by workers, but are found here.
	scan := j.client.HScan(ctx, key(queue, "messages"), 0, "", 1000).Iterator()
	for field := true; scan.Next(ctx); field = !field {
		if field {
			add(scan.Val())
		}
	}
	if err := scan.Err(); err != nil {
		return nil, fmt.Errorf("carmine: ids of %s: %w", queue, err)
	}
	return mids, nil
}

// Records reads the records of the first of some ids: of all ids, unless they are large. An unknown
// id has the state worker.None.
func (j *Jobs) Records(ctx context.Context, queue string, mids []string) ([]Record, error) {
	if len(mids) > MaxRecords {
		return nil, errTooMany
	}
	args := []any{maxRead}
	for _, mid := range mids {
		args = append(args, mid)
	}
	reply, err := j.run(ctx, readScript, queue, args...)
	if err != nil {
		return nil, fmt.Errorf("carmine: read %s: %w", queue, err)
	}
	f := fields{reply: reply}
	now := f.integer(0)
	records := make([]Record, max(f.len()-1, 0))
	for i := range records {
		g := f.list(i + 1)
		e := g.list(1)
		r := &records[i]
		r.fingerprint, r.Entry = g.text(0), entryOf(&e, now)
		if r.State != worker.None {
			r.Version = j.version(r, queue, g.text(2), g.integer(3))
			if r.State == worker.DoneAwaitingGC || r.State == worker.DoneWithBackoff || r.State == worker.DoneWithRequeue {
				r.Unreadable = nil // its content is no longer needed
			}
		}
		if behind, ok := g.at(4).(string); ok {
			v := j.version(r, queue, behind, g.integer(5))
			r.Behind = &v
		}
		if err := errors.Join(f.err, g.err, e.err); err != nil {
			return nil, err
		}
	}
	return records, nil
}

func (j *Jobs) version(r *Record, queue, kept string, lockMs int64) Version {
	body, contentType, err := j.codec.Decode([]byte(kept))
	if err != nil {
		r.Unreadable = unreadable(queue, r.MID, err)
	}
	return Version{Body: body, ContentType: contentType, OwnLock: time.Duration(max(lockMs, 0)) * time.Millisecond}
}

// Remove removes records that have not changed since they were read. It reports for each whether it
// was removed.
func (j *Jobs) Remove(ctx context.Context, queue string, records []Record) ([]bool, error) {
	if len(records) > MaxRecords {
		return nil, errTooMany
	}
	args := make([]any, 0, 2*len(records))
	for i := range records {
		args = append(args, records[i].MID, records[i].fingerprint)
	}
	reply, err := j.run(ctx, removeScript, queue, args...)
	if err != nil {
		return nil, fmt.Errorf("carmine: remove from %s: %w", queue, err)
	}
	f := fields{reply: reply}
	removed := make([]bool, len(records))
	for i := range removed {
		removed[i] = f.integer(i) == 1
	}
	return removed, f.err
}

// Tidy removes the remains of a queue without messages, and reports whether it had none.
func (j *Jobs) Tidy(ctx context.Context, queue string) (bool, error) {
	reply, err := j.run(ctx, tidyScript, queue)
	if err != nil {
		return false, fmt.Errorf("carmine: tidy %s: %w", queue, err)
	}
	return reply == int64(1), nil
}
