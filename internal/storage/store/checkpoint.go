package store

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"fiveways.dev/fiveways/internal/storage/vfs"
)

// checkpointFile is the content of a checkpoint's file name.
type checkpointFile struct {
	shard uint32
	index uint64
}

func (c checkpointFile) name() string { return fmt.Sprintf("ckpt-%08x-%016x", c.shard, c.index) }

func parseCheckpointName(name string) (c checkpointFile, ok bool) {
	if !strings.HasPrefix(name, "ckpt-") {
		return c, false
	}
	if _, err := fmt.Sscanf(name, "ckpt-%x-%x", &c.shard, &c.index); err != nil {
		return c, false
	}
	return c, c.name() == name
}

// WriteCheckpoint stores the output of write as the checkpoint of a shard: its state after the
// entry index. It first waits, for as long as it takes, until the entry is durable, and in a
// replica committed. It returns ErrRewound or ErrLost if that cannot happen. Older checkpoints of
// the shard are removed once the new one is durable.
func (s *Store) WriteCheckpoint(shard uint32, index uint64, write func(io.Writer) error) error {
	if s.opts.Scratch {
		return errors.New("store: a scratch store has no checkpoints")
	}
	defer took(&s.stats.checkpoints, time.Now())
	c := checkpointFile{shard: shard, index: index}
	tmp := s.path(c.name() + tmpSuffix)
	if err := s.writeCheckpointFile(tmp, c, write); err != nil {
		s.fs.Remove(tmp) // Open removes it otherwise
		return inFile(c.name(), err)
	}
	if err := s.syncTo(shard, index); err != nil {
		s.fs.Remove(tmp)
		return inFile(c.name(), err)
	}
	if err := s.fs.Rename(tmp, s.path(c.name())); err != nil {
		return inFile(c.name(), err)
	}
	if err := s.fs.SyncDir(s.dir); err != nil {
		return inFile(s.dir, err)
	}
	s.mu.Lock()
	l := s.shard(shard)
	l.checkpoint, l.newest = max(l.checkpoint, index), max(l.newest, index)
	s.mu.Unlock()
	return s.removeOlder(c)
}

func (s *Store) writeCheckpointFile(path string, c checkpointFile, write func(io.Writer) error) error {
	f, err := vfs.CreateSteady(s.fs, path)
	if err != nil {
		return err
	}
	defer f.Close()
	cw, err := newCheckpointWriter(f, c)
	if err != nil {
		return err
	}
	if err := write(cw); err != nil {
		return err
	}
	if err := cw.finish(); err != nil {
		return err
	}
	return f.Datasync()
}

// syncTo makes a shard's entries up to index durable, because the engine applies entries before
// they are.
func (s *Store) syncTo(shard uint32, index uint64) error {
	if s.raft != nil {
		if err := s.raft.awaitAppended(shard, index); err != nil {
			return err
		}
	}
	s.mu.Lock()
	l := s.shard(shard)
	durable := index <= l.durable
	known := index <= l.last
	s.mu.Unlock()
	if !known {
		return fmt.Errorf("store: checkpoint at entry %d of shard %d, which was not appended", index, shard)
	}
	if err := s.awaitCommitted(shard, index); err != nil {
		return err
	}
	if durable {
		return nil
	}
	return s.SyncNow()
}

func (s *Store) removeOlder(c checkpointFile) error {
	l, err := readLayout(s.fs, s.dir)
	if err != nil {
		return err
	}
	for _, old := range l.checkpoints {
		if old.shard == c.shard && old.index < c.index {
			if err := s.fs.Remove(s.path(old.name())); err != nil {
				return inFile(old.name(), err)
			}
		}
	}
	return nil
}

// Checkpoint opens the newest intact checkpoint of a shard and returns the index of the last entry
// it covers. r is nil if there is none. If the newest is damaged it opens an older one, and Replay
// reports whether the log still goes back that far. It returns ErrCorrupt if all checkpoints are
// damaged.
func (s *Store) Checkpoint(shard uint32) (r io.ReadCloser, index uint64, err error) {
	layout, err := readLayout(s.fs, s.dir)
	if err != nil {
		return nil, 0, err
	}
	var damage error
	for _, c := range slices.Backward(layout.checkpoints) {
		if c.shard != shard {
			continue
		}
		r, err := openCheckpoint(s.fs, s.path(c.name()), c)
		if err == nil {
			s.mu.Lock()
			l := s.shard(shard)
			l.checkpoint = max(l.checkpoint, c.index)
			s.mu.Unlock()
			return r, c.index, nil
		}
		if !errors.Is(err, ErrCorrupt) {
			return nil, 0, inFile(c.name(), err)
		}
		s.opts.Logger.Error("store: damaged checkpoint", "file", c.name(), "err", err)
		damage = errors.Join(damage, inFile(c.name(), err))
	}
	return nil, 0, damage
}

// openCheckpoint verifies a whole checkpoint and opens it for reading.
func openCheckpoint(fs vfs.FS, path string, c checkpointFile) (io.ReadCloser, error) {
	f, err := fs.Open(path)
	if err != nil {
		return nil, err
	}
	size, err := f.Size()
	if err == nil {
		_, err = io.Copy(io.Discard, newCheckpointReader(io.NewSectionReader(f, 0, size), c))
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	r := newCheckpointReader(io.NewSectionReader(f, 0, size), c)
	return &checkpointHandle{Reader: bufio.NewReaderSize(r, checkpointBlock), f: f}, nil
}

type checkpointHandle struct {
	*bufio.Reader
	f vfs.File
}

func (h *checkpointHandle) Close() error { return h.f.Close() }
