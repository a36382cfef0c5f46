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

// Record is all that is kept of one id, for moving it elsewhere.
type Record struct {
	worker.Entry
	Version
	Behind *Version // waits until the first is done; nil when none does
	// Unreadable says, with worker.ErrUnreadable, that the content of one of them cannot be read;
	// they have none then.
	Unreadable error

	fingerprint string
}

// Version is what an enqueue gave.
type Version struct {
	Body        []byte
	ContentType string
	OwnLock     time.Duration // its own lock time; 0: the worker's
}

// MaxRecords is how many ids Records and Remove take at once: while a script runs, the Redis serves
// no other client.
const MaxRecords = 500

// maxRead is after how many bytes of contents Records reads no further id.
const maxRead = 8 << 20

var errTooMany = fmt.Errorf("carmine: more than %d ids at once", MaxRecords)

// MIDs lists all ids of a queue, each once, in the order in which workers would come by. Those of a
// queue that works meanwhile may be missing.
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
	// What is in no list no worker finds; it is found here.
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

// Records reads what is kept of the first of some ids: of all unless they are large. One of which
// nothing is kept has the state worker.None.
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
				r.Unreadable = nil // it is not read any more
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

// Remove removes records, each only when nothing of it has changed since it was read, and tells
// which.
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

// Tidy removes what is left of a queue when it has no messages, and reports whether it had none.
func (j *Jobs) Tidy(ctx context.Context, queue string) (bool, error) {
	reply, err := j.run(ctx, tidyScript, queue)
	if err != nil {
		return false, fmt.Errorf("carmine: tidy %s: %w", queue, err)
	}
	return reply == int64(1), nil
}
