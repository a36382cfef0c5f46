package statemachine

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"fiveways.dev/fiveways/internal/storage/store"
)

// version is the first byte of a checkpoint of a machine. It differs from all versions of a shard's
// checkpoint.
const version = 0x81

// checkpoint is the state of a machine's checkpoints. Its fields belong to the goroutine that
// writes them, except for the atomic ones.
type checkpoint struct {
	size    int64       // of the last checkpoint
	at      int64       // bytes logged by all when the last one began
	tried   int64       // Host.since when the last one began, if it failed
	running atomic.Bool // a checkpoint is being written in the background
	fresh   atomic.Bool // one was written since the last call of Wrote
	writing sync.WaitGroup
}

var errInterrupted = errors.New("the broker is stopping")

// Recover restores the machine from its last checkpoint and the log after it. Errors: those of the
// machine and the store, and store.ErrUnsupportedFormat.
func (h *Host) Recover() error {
	r, after, err := h.env.Store.Checkpoint(h.shard)
	if err != nil {
		return err
	}
	if r != nil {
		if err := errors.Join(h.restore(r), r.Close()); err != nil {
			return fmt.Errorf("checkpoint at %d: %w", after, err)
		}
	}
	end := max(after, h.env.Store.ReplayEnd(h.shard))
	err = h.env.Store.Replay(h.shard, after, h.replay)
	h.applied = max(h.applied, end)
	h.last = h.applied
	return err
}

// replay applies a durable entry.
func (h *Host) replay(index uint64, _ uint32, fact []byte) error {
	if fact[0] != factEntry {
		return fmt.Errorf("entry %d: %w: fact type %d", index, store.ErrUnsupportedFormat, fact[0])
	}
	h.apply(index, fact[1:])
	return nil
}

// Apply applies an entry that another node has recorded. An entry that is already applied has no
// effect. Errors: store.ErrUnsupportedFormat, store.ErrCorrupt.
func (h *Host) Apply(index uint64, entry []byte) (err error) {
	if index <= h.last {
		return nil
	}
	h.still(func() {
		err = store.EachFact(entry, func(sub uint32, fact []byte) error { return h.replay(index, sub, fact) })
	})
	h.last = index
	return err
}

// Lead sets the log to which the machines append.
func (hs Hosts) Lead(log Log) {
	for _, h := range hs {
		h.env.Log = log
	}
}

// counted counts the bytes read.
type counted struct {
	io.Reader
	n int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

func (h *Host) restore(r io.Reader) error {
	c := &counted{Reader: r}
	br := bufio.NewReaderSize(c, 256<<10)
	v, err := br.ReadByte()
	if err != nil {
		return err
	}
	if v != version {
		return fmt.Errorf("%w: version %d of a checkpoint of a state machine", store.ErrUnsupportedFormat, v)
	}
	err = h.machine.Restore(br)
	h.checkpoint.size = c.n
	return err
}

// CheckpointIfDue begins a checkpoint of the machine if it is due: the machine has logged enough
// bytes, or it has logged anything and total, the number of bytes logged by all, has grown by
// quiet. The size of the checkpoint counts, too: however large the state is, checkpoints do not
// write much more than the log does.
func (h *Host) CheckpointIfDue(enough, quiet, total int64) {
	c := &h.checkpoint
	if c.running.Load() {
		return
	}
	since := int64(0)
	h.still(func() { since = h.since })
	due := since-c.tried >= max(enough, c.size)
	if total-c.at >= max(quiet, c.size) {
		due = since > 0 // also if the last one failed and nothing was logged since
	}
	if !due {
		return
	}
	c.at, c.tried = total, since
	c.running.Store(true)
	c.writing.Go(func() {
		defer c.running.Store(false)
		if err := h.writeCheckpoint(true); err != nil && !errors.Is(err, errInterrupted) {
			h.env.Logger.Warn("checkpoint failed; the log is kept and grows", "of", ShardName(h.shard), "err", err)
		}
	})
}

// Due reports whether the machine has applied enough bytes for a checkpoint.
func (h *Host) Due(enough int64) (due bool) {
	h.still(func() { due = h.since >= max(enough, h.checkpoint.size) })
	return due
}

// WriteCheckpoint writes a checkpoint of the machine, unless the last one is up to date.
func (h *Host) WriteCheckpoint() error { return h.writeCheckpoint(false) }

// writeCheckpoint implements WriteCheckpoint. With breakable it is aborted when the broker stops.
func (h *Host) writeCheckpoint(breakable bool) error {
	var index uint64
	var since, size int64
	var write func(io.Writer) error
	h.still(func() {
		if index, since = h.applied, h.since; since > 0 {
			size, write = h.machine.Freeze()
			h.since = 0
		}
	})
	if write == nil {
		return nil
	}
	c := &h.checkpoint
	c.size = size // an estimate until it is written
	w := &countedWriter{}
	if breakable {
		w.stop = h.env.Stop
	}
	err := h.env.Store.WriteCheckpoint(h.shard, index, func(to io.Writer) error {
		w.to = to
		if _, err := w.Write([]byte{version}); err != nil {
			return err
		}
		return write(w)
	})
	if err != nil {
		h.still(func() { h.since += since })
		return err
	}
	c.size, c.tried = w.n, 0
	c.fresh.Store(true)
	return nil
}

// Wrote reports whether a checkpoint was written since the last call.
func (h *Host) Wrote() bool { return h.checkpoint.fresh.Swap(false) }

// AwaitCheckpoint waits until no checkpoint is being written.
func (h *Host) AwaitCheckpoint() { h.checkpoint.writing.Wait() }

// Logged returns the number of bytes that the machine has applied since the process started,
// including replayed ones.
func (h *Host) Logged() (total int64) {
	h.still(func() { total = h.total })
	return total
}

// countedWriter counts the written bytes, and fails when the broker stops.
type countedWriter struct {
	to   io.Writer
	stop <-chan struct{} // nil: it does not stop
	n    int64
}

func (w *countedWriter) Write(p []byte) (int, error) {
	select {
	case <-w.stop:
		return 0, errInterrupted
	default:
	}
	n, err := w.to.Write(p)
	w.n += int64(n)
	return n, err
}

// Sum calls fn with the hash of the machine and the index of the last entry, which cannot change
// meanwhile. It does nothing if that index is but, if the entry is not applied yet, or if the
// machine currently has no hash. h may be nil.
func (h *Host) Sum(but uint64, fn func(sum, last uint64)) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	m, ok := h.machine.(interface{ Sum() (uint64, bool) })
	if !ok || h.last == but || h.turn.out.Load() > 0 {
		return
	}
	h.still(func() {
		if sum, ok := m.Sum(); ok {
			fn(sum, h.last)
		}
	})
}
