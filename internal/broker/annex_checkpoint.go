package broker

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"fiveways/internal/storage/store"
)

// annexVersion is the first byte of a checkpoint of an annex. No version of a shard's checkpoint is the same.
const annexVersion = 0x81

// annexCheckpoint is what is known of the checkpoints of an annex. Its fields belong to the goroutine of the checkpoints, but written.
type annexCheckpoint struct {
	size    int64       // of the last one
	at      int64       // Broker.logged when the last one was begun
	tried   int64       // annex.since when the last one was begun, if that failed
	running atomic.Bool // one is being written beside everything else
	fresh   atomic.Bool // one was written since the last cleaning
	writing sync.WaitGroup
}

var errInterrupted = errors.New("the broker is stopping")

// recover gives the machine its last checkpoint and what the log has behind it.
func (a *annex) recover() error {
	r, after, err := a.b.store.Checkpoint(a.shard)
	if err != nil {
		return err
	}
	if r != nil {
		if err := errors.Join(a.restore(r), r.Close()); err != nil {
			return fmt.Errorf("checkpoint at %d: %w", after, err)
		}
	}
	a.applied = after
	err = a.b.store.Replay(a.shard, after, func(index uint64, _ uint32, fact []byte) error {
		if fact[0] != factAnnex {
			return fmt.Errorf("entry %d: %w: fact type %d", index, store.ErrUnsupportedFormat, fact[0])
		}
		a.apply(index, fact[1:])
		return nil
	})
	a.last = a.b.store.Last(a.shard)
	a.applied = a.last
	return err
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

func (a *annex) restore(r io.Reader) error {
	c := &counted{Reader: r}
	br := bufio.NewReaderSize(c, 256<<10)
	version, err := br.ReadByte()
	if err != nil {
		return err
	}
	if version != annexVersion {
		return fmt.Errorf("%w: version %d of a checkpoint of an annex", store.ErrUnsupportedFormat, version)
	}
	err = a.machine.Restore(br)
	a.checkpoint.size = c.n
	return err
}

// checkpointIfDue begins a checkpoint of the annex when it is time for one. Its size counts: however large the state is, checkpoints do not
// write much more than the log does. enough and total are those of the shards.
func (a *annex) checkpointIfDue(enough, total int64) {
	c := &a.checkpoint
	if c.running.Load() {
		return
	}
	since := int64(0)
	a.still(func() { since = a.since })
	due := since-c.tried >= max(enough, c.size)
	if total-c.at >= max(quietRounds*enough, c.size) {
		due = since > 0 // also when the last one failed and nothing has come since
	}
	if !due {
		return
	}
	c.at, c.tried = total, since
	c.running.Store(true)
	c.writing.Go(func() {
		defer c.running.Store(false)
		if err := a.writeCheckpoint(true); err != nil && !errors.Is(err, errInterrupted) {
			a.b.log.Warn("checkpoint failed; the log is kept and grows", "of", ShardName(a.shard), "err", err)
		}
	})
}

// writeCheckpoint writes a checkpoint of the annex as it is, unless the last one says it all. With breakable the end of the broker ends it too.
func (a *annex) writeCheckpoint(breakable bool) error {
	var index uint64
	var since, size int64
	var write func(io.Writer) error
	a.still(func() {
		if index, since = a.applied, a.since; since > 0 {
			size, write = a.machine.Freeze()
			a.since = 0
		}
	})
	if write == nil {
		return nil
	}
	c := &a.checkpoint
	c.size = size // as long as nobody knows better
	w := &annexWriter{}
	if breakable {
		w.stop = a.b.stop
	}
	err := a.b.store.WriteCheckpoint(a.shard, index, func(to io.Writer) error {
		w.to = to
		if _, err := w.Write([]byte{annexVersion}); err != nil {
			return err
		}
		return write(w)
	})
	if err != nil {
		a.still(func() { a.since += since })
		return err
	}
	c.size, c.tried = w.n, 0
	c.fresh.Store(true)
	return nil
}

// wrote tells, once, that a checkpoint was written.
func (a *annex) wrote() bool { return a.checkpoint.fresh.Swap(false) }

// awaitAnnexes returns when no checkpoint of an annex is being written.
func (b *Broker) awaitAnnexes() {
	for _, a := range b.annexes {
		a.checkpoint.writing.Wait()
	}
}

// annexWriter counts what is written, and gives up when the broker stops.
type annexWriter struct {
	to   io.Writer
	stop <-chan struct{} // nil: it does not
	n    int64
}

func (w *annexWriter) Write(p []byte) (int, error) {
	select {
	case <-w.stop:
		return 0, errInterrupted
	default:
	}
	n, err := w.to.Write(p)
	w.n += int64(n)
	return n, err
}

// hash is that of the machine, 0 when it has none.
func (a *annex) hash() (sum uint64) {
	if h, ok := a.machine.(interface{ Hash() uint64 }); ok {
		a.still(func() { sum = h.Hash() })
	}
	return sum
}
