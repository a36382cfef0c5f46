package store

import (
	"errors"
	"io"
	"io/fs"

	"fiveways.dev/fiveways/internal/storage/vfs"
)

// SnapshotFile is a file of a snapshot: its first Size bytes, which never change.
type SnapshotFile struct {
	Name   string
	Size   int64
	file   vfs.File
	sealed bool // a segment with its footer
	alone  bool // a replica's segment, which Copy writes in a single node's format
}

// Reader reads the file.
func (f *SnapshotFile) Reader() io.Reader { return io.NewSectionReader(f.file, 0, f.Size) }

// Snapshot is the set of files that make up the store at one moment: the newest checkpoints, and
// the log up to then.
type Snapshot struct{ Files []SnapshotFile }

// Close closes the files.
func (sn *Snapshot) Close() {
	for _, f := range sn.Files {
		f.file.Close() // only read: an error loses nothing
	}
}

// Snapshot opens the files of the store as they are now, for SnapshotFile.Copy. They hold all
// entries that are durable now; for a replica, the committed ones in a single node's format.
// Writing continues meanwhile. Files that are replaced or deleted later can still be read, and
// their space is freed when the snapshot is closed. It returns the errors of SyncNow and of the
// files.
func (s *Store) Snapshot() (*Snapshot, error) {
	if s.raft != nil {
		// An entry may be committed because other nodes have it but not be written here yet.
		if err := s.SyncNow(); err != nil {
			return nil, err
		}
	}
	s.housekeeping.Lock() // keeps the segments from listing the checkpoints until all is open
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

// openCheckpoints opens the newest checkpoint of each shard. It must run before the segments are
// opened, so that those hold what the checkpoints cover.
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
		sn.Close() // a newer one has replaced it meanwhile
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

// segmentFiles returns the segments up to the last written frame, or with the footer once sealed.
// Called with mu held.
func (s *Store) segmentFiles() (parts []SnapshotFile) {
	for _, seg := range s.segments {
		size := seg.written
		if seg.sealed {
			size = seg.bytes
		}
		if size > 0 { // otherwise the file may not exist yet
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

// open adds a file. A negative size means its actual size.
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
