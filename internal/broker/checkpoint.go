package broker

import (
	"time"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/definitions"
	"fiveways.dev/fiveways/internal/storage/store"
)

// maxLive is the fraction of live references below which a segment is rewritten without the dead
// ones.
const maxLive = 0.3

// checkpointRound is the interval between checks whether a checkpoint is due.
const checkpointRound = time.Second

// failedRounds is the number of rounds without checkpoints after one that failed.
const failedRounds = 10

// checkpoints writes checkpoints and cleans until the broker closes. It may wait for space on a
// full disk, so it is separate from the watchdog.
func (b *Broker) checkpoints() {
	defer b.housekeeper.Done()
	round := time.NewTicker(checkpointRound)
	defer round.Stop()
	for pause := 0; ; pause-- {
		select {
		case <-b.stop:
			return
		case <-round.C:
		}
		switch b.set.Log.State().Health {
		case store.Healthy:
			a := b.Alarm()
			if pause <= 0 && b.checkpointDue(a != nil && a.Reason == LowOnDisk) != nil {
				pause = failedRounds
			}
		case store.NoSpace: // deleting dead segments needs no write
			if err := b.set.Store.Forget(); err != nil {
				b.log.Warn("log files could not be deleted: they take disk space that no queue needs", "err", err)
			}
			b.set.Log.Retry()
		}
		b.forgetScratch()
	}
}

// quietRounds bounds how long a shard that logs little has no checkpoint: until all shards together
// have logged this many times the bytes that make a checkpoint due. A segment can be deleted only
// if the checkpoints of all shards in it cover it.
const quietRounds = 4

// Sync makes all operations durable that the shards have accepted so far, whatever Options.Sync is.
// Errors: ErrClosed, ErrLogFailed.
func (b *Broker) Sync() error {
	for _, sh := range b.set.All {
		// A shard answers a call in the middle of a round, and hands the round's entry to the log
		// at its end. The first call may be in one round with earlier operations; the second runs
		// after that round.
		for range 2 {
			if err := sh.Call(func() {}); err != nil {
				return err
			}
		}
	}
	if err := b.set.Store.SyncNow(); err != nil {
		return failure.LogFailed("log", err)
	}
	return nil
}

// Checkpoint writes the checkpoints that are due now, as the broker does every second.
func (b *Broker) Checkpoint() { b.checkpointDue(false) } //nolint:errcheck // it is logged

// checkpointDue writes checkpoints for the shards that have logged enough since their last one, and
// then frees segments. When disk space is short, any logged byte is enough: consumed messages then
// free space. It returns an error if the checkpoint of a shard failed, which is due again then.
func (b *Broker) checkpointDue(short bool) (err error) {
	b.checkpointing.Lock() // Checkpoint may run concurrently with the checkpoint goroutine
	defer b.checkpointing.Unlock()
	enough := b.opts.CheckpointBytes
	if short {
		enough = 1
	}
	total, definitions := b.logged()
	wrote := false
	for _, h := range b.machines {
		h.CheckpointIfDue(enough, quietRounds*enough, total)
		wrote = h.Wrote() || wrote
	}
	for _, sh := range b.set.All {
		need := enough
		if total-sh.CheckpointAt >= quietRounds*enough {
			need = 1
		}
		if f := sh.FreezeIfDue(need); f != nil {
			if failed := b.writeCheckpoint(sh, f); failed != nil {
				err = failed
				sh.Call(func() { sh.Log().CheckpointFailed() })
				continue
			}
			sh.CheckpointAt = total
			wrote = true
		}
	}
	if wrote || definitions >= enough {
		if err := b.journal.Checkpoint(b.set.Store); err != nil {
			b.log.Warn("checkpoint of the definitions failed", "err", err)
		}
		b.clean()
	}
	return err
}

// logged returns the bytes of all shards in the log at the start plus those logged since, and the
// bytes of definitions since their last checkpoint.
func (b *Broker) logged() (total, definitions int64) {
	total, definitions = b.journal.Logged()
	for _, sh := range b.set.All {
		sh.Call(func() { total += sh.Log().Total() })
	}
	for _, h := range b.machines {
		total += h.Logged()
	}
	return total, definitions
}

func (b *Broker) writeCheckpoint(sh *shard.Shard, f *shard.Frozen) error {
	err := b.set.Store.WriteCheckpoint(sh.ID, f.Index, f.State.Write)
	if err != nil {
		b.log.Warn("checkpoint failed; the log is kept and grows", "shard", sh.ID, "index", f.Index, "err", err)
	}
	return err
}

// checkpointAll writes all checkpoints. The shards must have stopped.
func (b *Broker) checkpointAll(clean bool) error {
	if err := b.journal.Checkpoint(b.set.Store); err != nil {
		return err
	}
	for _, sh := range b.set.All {
		f := sh.Freeze(clean)
		for f.State.Copy() {
		}
		if err := b.writeCheckpoint(sh, f); err != nil {
			return err
		}
	}
	for _, h := range b.machines {
		h.Settle()
		if err := h.WriteCheckpoint(); err != nil {
			return err
		}
	}
	return b.set.Store.Forget()
}

// clean deletes segments without live references, rewrites those with few, and merges many small
// ones.
func (b *Broker) clean() {
	if err := b.set.Store.Forget(); err != nil {
		b.log.Warn("log files could not be deleted: they take disk space that no queue needs", "err", err)
		return
	}
	b.rewrite(b.set.Store.Sparse(maxLive))
	b.rewrite(b.set.Store.Small())
}

func (b *Broker) rewrite(runs []store.SegmentRun) {
	for _, run := range runs {
		select {
		case <-b.stop:
			return
		default:
		}
		if err := b.set.Store.Rewrite(run, b.live); err != nil {
			b.log.Warn("log files could not be rewritten: they take disk space that no queue needs", "first", run.First, "last", run.Last, "err", err)
			return
		}
		b.log.Debug("segments rewritten", "first", run.First, "last", run.Last, "bytes", run.Bytes, "refs", run.Refs, "live", run.Live)
	}
}

// live returns the positions of the bodies that the shard's queues still need, sorted and unique.
func (b *Broker) live(id uint32, lo, hi uint64) (live []store.Pos, err error) {
	if id == definitions.Shard || int(id) > len(b.set.All) {
		return nil, nil
	}
	return b.set.All[id-1].Live(lo, hi)
}

// forgetScratch deletes segments of the scratch log that no message needs.
func (b *Broker) forgetScratch() {
	if b.set.Bodies.Released.Swap(0) == 0 {
		return
	}
	if err := b.set.Scratch.Forget(); err != nil {
		b.log.Warn("files of transient messages could not be deleted", "err", err)
	}
}
