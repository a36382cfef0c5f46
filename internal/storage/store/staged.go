package store

import (
	"errors"
	"fmt"
	"path/filepath"

	"fiveways.dev/fiveways/internal/storage/vfs"
	"fiveways.dev/fiveways/internal/storage/wal"
)

// ErrStaging means that another snapshot is being received.
var ErrStaging = errors.New("store: another snapshot is being received")

// Staged is a snapshot of another replica being received into this node's directory, next to the
// live files: call Create and Write for each file, then Seal, Verify and Install. Drop may be
// called at any time before Install. One goroutine uses it.
type Staged struct {
	r    *RaftLog
	slot int
	dir  string
	file vfs.File // being written; nil between two files
	at   int64
	kept bool // the live files may be this snapshot
}

// Stage prepares to receive a snapshot. It returns ErrStaging if another one is being received.
func (r *RaftLog) Stage() (*Staged, error) {
	if !r.staging.CompareAndSwap(false, true) {
		return nil, ErrStaging
	}
	s := r.s
	st := &Staged{r: r, slot: 1}
	if s.dir == slotDir(s.root, 1) {
		st.slot = 2
	}
	st.dir = slotDir(s.root, st.slot)
	err := clearSlot(s.fs, s.root, st.slot)
	if err == nil {
		err = s.fs.MkdirAll(st.dir)
	}
	if err == nil {
		err = s.fs.SyncDir(s.root)
	}
	if err != nil {
		r.staging.Store(false)
		return nil, inFile(st.dir, err)
	}
	return st, nil
}

// Create ends the previous file and starts the next one. It returns ErrCorrupt if a snapshot cannot
// have a file of that name.
func (st *Staged) Create(name string) error {
	if err := st.endFile(); err != nil {
		return err
	}
	_, segment := wal.ParseSegmentName(name)
	_, checkpoint := parseCheckpointName(name)
	if !segment && !checkpoint {
		return fmt.Errorf("%w: a snapshot has no file %q", ErrCorrupt, name)
	}
	f, err := vfs.CreateSteady(st.r.s.fs, filepath.Join(st.dir, name))
	if err != nil {
		return inFile(name, err)
	}
	st.file, st.at = f, 0
	return nil
}

// Write appends to the file.
func (st *Staged) Write(p []byte) (int, error) {
	if st.file == nil {
		return 0, fmt.Errorf("%w: a snapshot with bytes of no file", ErrCorrupt)
	}
	n, err := st.file.WriteAt(p, st.at)
	st.at += int64(n)
	return n, err
}

func (st *Staged) endFile() error {
	if st.file == nil {
		return nil
	}
	f := st.file
	st.file = nil
	err := f.Datasync()
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// Seal ends the last file and sets the state of the replica after installation.
func (st *Staged) Seal(state RaftState) error {
	if err := st.endFile(); err != nil {
		return err
	}
	return writeRaftState(st.r.s.fs, st.dir, &state)
}

// Verify reads the whole snapshot and opens a store on it. It returns ErrCorrupt if the log has a
// gap or does not end with the entry that Seal named, if any.
func (st *Staged) Verify() error {
	s := st.r.s
	in, err := inspect(s.fs, st.dir)
	if err != nil {
		return err
	}
	if len(in.seen) == 0 {
		return fmt.Errorf("%w: snapshot: it has no log", ErrCorrupt)
	}
	if len(in.report.Damage) > 0 {
		return fmt.Errorf("%w: snapshot: %s", ErrCorrupt, in.report.Damage[0])
	}
	if len(in.report.Missing) > 0 {
		return fmt.Errorf("%w: snapshot: entry %d of shard %d is missing", ErrCorrupt, in.report.Missing[0].First, in.report.Missing[0].Shard)
	}
	opened := &Store{fs: s.fs, root: st.dir, dir: st.dir, opts: s.opts, files: files{fs: s.fs}, readOnly: true, closed: true, shards: map[uint32]*shardLog{}}
	l, err := readLayout(s.fs, st.dir)
	if err == nil {
		_, err = opened.readLog(&l)
	}
	opened.files.closeAll()
	if err != nil {
		return err
	}
	log := opened.Raft()
	if log == nil {
		return nil // a backup
	}
	if last := log.Last().Index; last != log.State().Commit {
		return fmt.Errorf("%w: snapshot: the log ends with entry %d, not %d", ErrCorrupt, last, log.State().Commit)
	}
	return nil
}

// Install makes the snapshot the live files for the next Open, with this term and vote. After a
// crash either the old files or the new ones are live. This store still has the old ones open; the
// caller may only close it. If Install returns ErrNoSpace the caller may retry. After any other
// error it is unknown which files are live, and the store has failed.
func (st *Staged) Install(term, vote uint64) error {
	s := st.r.s
	state, err := readRaftState(s.fs, st.dir)
	if err == nil && state == nil {
		err = fmt.Errorf("%w: snapshot: it was not sealed", ErrCorrupt)
	}
	if err == nil {
		state.Term, state.Vote = term, vote
		err = writeRaftState(s.fs, st.dir, state)
	}
	if err == nil {
		st.kept = true
		err = setLive(s.fs, s.root, st.slot)
	}
	if isFull(err) {
		return fmt.Errorf("%w: %w", ErrNoSpace, err)
	}
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrFailed, err)
		s.setState(State{Health: Failed, Err: err})
	}
	return err
}

// Drop discards the snapshot, unless it may be installed.
func (st *Staged) Drop() {
	if st.kept {
		return
	}
	if st.file != nil {
		st.file.Close() // no longer needed
	}
	clearSlot(st.r.s.fs, st.r.s.root, st.slot) //nolint:errcheck // Open and Stage remove what is left
	st.r.staging.Store(false)
}
