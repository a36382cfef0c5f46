package store

import (
	"errors"
	"fmt"
	"path/filepath"

	"fiveways.dev/fiveways/internal/storage/vfs"
	"fiveways.dev/fiveways/internal/storage/wal"
)

// stagedSync is how many bytes of a snapshot are written between two syncs: many at once would keep
// the syncs of the log waiting, where other nodes use the same disk.
const stagedSync = 2 << 20

// ErrStaging says that a snapshot is on its way already.
var ErrStaging = errors.New("store: another snapshot is being received")

// Staged is a snapshot of another replica on its way into the folder of this one, next to what
// lives there: its files (Create, Write), then Seal, Verify and Install; Drop at any time before
// Install. It has one caller.
type Staged struct {
	r    *RaftLog
	slot int
	dir  string
	file vfs.File // being written; nil between two
	at   int64
	wet  int64 // bytes since the last sync
	kept bool  // what lives may be this snapshot
}

// Stage begins to receive a snapshot, one at a time: ErrStaging.
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
	err := s.fs.MkdirAll(st.dir)
	if err == nil {
		err = s.fs.SyncDir(s.root)
	}
	if err == nil {
		err = clearSlot(s.fs, s.root, st.slot)
	}
	if err != nil {
		r.staging.Store(false)
		return nil, inFile(st.dir, err)
	}
	return st, nil
}

// Create ends the file before and begins the next one. Only a name that a snapshot can have is
// taken: ErrCorrupt.
func (st *Staged) Create(name string) error {
	if err := st.endFile(); err != nil {
		return err
	}
	_, segment := wal.ParseSegmentName(name)
	_, checkpoint := parseCheckpointName(name)
	if !segment && !checkpoint {
		return fmt.Errorf("%w: a snapshot has no file %q", ErrCorrupt, name)
	}
	f, err := st.r.s.fs.Create(filepath.Join(st.dir, name))
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
	st.at, st.wet = st.at+int64(n), st.wet+int64(n)
	if err == nil && st.wet >= stagedSync {
		st.wet = 0
		err = st.file.Datasync()
	}
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

// Seal ends the last file and says what the replica is once the snapshot is installed.
func (st *Staged) Seal(state RaftState) error {
	if err := st.endFile(); err != nil {
		return err
	}
	return writeRaftState(st.r.s.fs, st.dir, &state)
}

// Verify reads all of it and checks that a store opens on it whose log is whole and ends with the
// entry that Seal has named, if it has. ErrCorrupt when not.
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

// Install makes the snapshot what the folder holds, with this term and vote, for the next Open: it
// is the old one or the new one after a crash. This store is of what was there before, and does
// nothing any more but Close. ErrNoSpace when it may be tried again; after another error it is
// unknown which one is there, and the store has failed.
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

// Drop gives the snapshot up, unless it may be installed.
func (st *Staged) Drop() {
	if st.kept {
		return
	}
	if st.file != nil {
		st.file.Close() // it is not used
	}
	clearSlot(st.r.s.fs, st.r.s.root, st.slot) //nolint:errcheck // Open and Stage remove what is left
	st.r.staging.Store(false)
}
