package store

import (
	"errors"
	"io"
	"io/fs"

	"fiveways.dev/fiveways/internal/storage/vfs"
)

// SnapshotFile is a file of a snapshot: the first Size bytes of it, which never change.
type SnapshotFile struct {
	Name   string
	Size   int64
	file   vfs.File
	sealed bool // a segment with its footer
	alone  bool // a segment of a replica, of which Copy leaves out what is Raft's
}

// Reader reads the file.
func (f *SnapshotFile) Reader() io.Reader { return io.NewSectionReader(f.file, 0, f.Size) }

// Snapshot is what a folder has to hold to be the store as it was at one moment: the newest
// checkpoints, and the log up to then.
type Snapshot struct{ Files []SnapshotFile }

// Close closes the files.
func (sn *Snapshot) Close() {
	for _, f := range sn.Files {
		f.file.Close() // was only read
	}
}

// Snapshot opens the files of the store as they are now, for SnapshotFile.Copy. Entries that are
// durable now are in them; of a replica those that are committed, as a single node has them.
// Writing goes on meanwhile, and files that are replaced or deleted later can still be read; their
// space comes back when the snapshot is closed. Errors are those of SyncNow and of the files.
func (s *Store) Snapshot() (*Snapshot, error) {
	if s.raft != nil {
		// What is committed because others have it may not be written here yet.
		if err := s.SyncNow(); err != nil {
			return nil, err
		}
	}
	s.housekeeping.Lock() // no segment goes or is replaced between the look at the checkpoints and the opening
	defer s.housekeeping.Unlock()
	sn := &Snapshot{}
	err := s.openCheckpoints(sn)
	if err == nil {
		err = s.openSegments(sn)
	}
	if err != nil {
		sn.Close()
		return nil, err
	}
	return sn, nil
}

// openCheckpoints opens the newest checkpoint of each shard. Looking comes first: what they cover
// is in the segments that are opened after that.
func (s *Store) openCheckpoints(sn *Snapshot) error {
	for {
		l, err := readLayout(s.fs, s.dir)
		if err != nil {
			return err
		}
		newest := map[uint32]checkpointFile{}
		for _, c := range l.checkpoints { // ascending
			newest[c.shard] = c
		}
		for _, c := range newest {
			if err = sn.open(s, SnapshotFile{Name: c.name(), Size: -1}); err != nil {
				break
			}
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		sn.Close() // a newer one has taken its place meanwhile
		sn.Files = nil
	}
}

// openSegments opens the segments as they are now.
func (s *Store) openSegments(sn *Snapshot) error {
	if s.raft != nil {
		return s.raft.openCommitted(sn)
	}
	s.mu.Lock()
	parts := s.segmentFiles()
	s.mu.Unlock()
	return sn.openAll(s, parts)
}

// segmentFiles are the segments up to the last frame that was written; a footer counts once the
// segment is sealed. Called with mu held.
func (s *Store) segmentFiles() (parts []SnapshotFile) {
	for _, seg := range s.segments {
		size := seg.written
		if seg.sealed {
			size = seg.bytes
		}
		if size > 0 { // else the file may not be there yet
			parts = append(parts, SnapshotFile{Name: seg.img.name, Size: size, sealed: seg.sealed})
		}
	}
	return parts
}

func (sn *Snapshot) openAll(s *Store, parts []SnapshotFile) error {
	for _, p := range parts {
		if err := sn.open(s, p); err != nil {
			return err
		}
	}
	return nil
}

// open adds a file; a size below 0 is that which it has.
func (sn *Snapshot) open(s *Store, p SnapshotFile) (err error) {
	if p.file, err = s.fs.Open(s.path(p.Name)); err != nil {
		return inFile(p.Name, err)
	}
	if p.Size < 0 {
		if p.Size, err = p.file.Size(); err != nil {
			p.file.Close()
			return inFile(p.Name, err)
		}
	}
	sn.Files = append(sn.Files, p)
	return nil
}
