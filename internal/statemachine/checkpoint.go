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

// version is the first byte of a checkpoint of a machine. No version of a shard's checkpoint is
// the same.
const version = 0x81

// checkpoint is what is known of the checkpoints of a machine. Its fields belong to the goroutine
// of the checkpoints, but for the atomic ones.
type checkpoint struct {
	size    int64       // of the last one
	at      int64       // log of all when the last one was begun
	tried   int64       // Host.since when the last one was begun, if that failed
	running atomic.Bool // one is being written beside everything else
	fresh   atomic.Bool // one was written since the last cleaning
	writing sync.WaitGroup
}

var errInterrupted = errors.New("the broker is stopping")

// Recover gives the machine its last checkpoint and what the log has behind it. Errors: those of
// the machine, of the store, and store.ErrUnsupportedFormat.
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

// replay applies an entry that is durable.
func (h *Host) replay(index uint64, _ uint32, fact []byte) error {
	if fact[0] != factEntry {
		return fmt.Errorf("entry %d: %w: fact type %d", index, store.ErrUnsupportedFormat, fact[0])
	}
	h.apply(index, fact[1:])
	return nil
}

// Apply has the machine do an entry that another node has recorded. One that was applied changes
// nothing. Errors: store.ErrUnsupportedFormat, store.ErrCorrupt.
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

// Lead has the machines append to a log from now on.
func (hs Hosts) Lead(log Log) {
	for _, h := range hs {
		h.env.Log = log
	}
}

// counted counts what goes through it.
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

// CheckpointIfDue begins a checkpoint of the machine when it is time for one: it logged enough
// bytes, or it logged anything and total, which is how much all have logged, has grown by quiet.
// The size of the checkpoint counts, too: however large the state is, checkpoints do not write much
// more than the log does.
func (h *Host) CheckpointIfDue(enough, quiet, total int64) {
	c := &h.checkpoint
	if c.running.Load() {
		return
	}
	since := int64(0)
	h.still(func() { since = h.since })
	due := since-c.tried >= max(enough, c.size)
	if total-c.at >= max(quiet, c.size) {
		due = since > 0 // also when the last one failed and nothing has come since
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

// Due reports whether the machine has applied as many bytes as make a checkpoint worth it.
func (h *Host) Due(enough int64) (due bool) {
	h.still(func() { due = h.since >= max(enough, h.checkpoint.size) })
	return due
}

// WriteCheckpoint writes a checkpoint of the machine as it is, unless the last one says it all.
func (h *Host) WriteCheckpoint() error { return h.writeCheckpoint(false) }

// writeCheckpoint is WriteCheckpoint; with breakable the end of the broker ends it too.
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
	c.size = size // until a better figure is known
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

// Wrote reports, once, that a checkpoint was written.
func (h *Host) Wrote() bool { return h.checkpoint.fresh.Swap(false) }

// AwaitCheckpoint returns when no checkpoint is being written.
func (h *Host) AwaitCheckpoint() { h.checkpoint.writing.Wait() }

// Logged is how many bytes the machine has applied since the process started, with what was
// replayed.
func (h *Host) Logged() (total int64) {
	h.still(func() { total = h.total })
	return total
}

// countedWriter counts what is written, and gives up when the broker stops.
type countedWriter struct {
	to   io.Writer
	stop <-chan struct{} // nil: it does not
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

// Sum calls fn with the hash of the machine and the last entry, before there is another one, unless
// that is but or not applied yet, or the machine has no hash at the moment. h may be nil.
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
