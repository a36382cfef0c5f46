package store

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"fiveways.dev/fiveways/internal/storage/vfs"
	"fiveways.dev/fiveways/internal/storage/wal"
)

const damagedSuffix = ".damaged"

// Repair makes a damaged store open again and returns what Inspect found before. It cuts a torn
// end. It keeps a damaged segment under its name with ".damaged" appended, and replaces it with one
// that holds the intact frames, even if the rest of their group is lost. The same happens to a
// segment with the first frame after missing entries, which gets the mark wal.Gap: the content of
// those entries is lost (Report.Missing). A damaged checkpoint is set aside, too. If there is no
// older one, the entries it covered are missing as far as the log has deleted or cleaned them.
// Repair returns ErrReplica for a cluster node: such a node is replaced instead, because the others
// have its data.
func Repair(fs vfs.FS, dir string) (Report, error) {
	lock, err := fs.Lock(filepath.Join(dir, lockName))
	if err != nil {
		return Report{}, inFile(dir, err)
	}
	defer lock.Close()
	if dir, err = liveDir(fs, dir); err != nil {
		return Report{}, err
	}
	if st, err := readRaftState(fs, dir); st != nil || err != nil {
		return Report{}, errors.Join(ErrReplica, err)
	}
	in, err := inspect(fs, dir)
	if err != nil {
		return Report{}, err
	}
	for _, c := range in.report.Checkpoints {
		if !c.Valid {
			path := filepath.Join(dir, checkpointFile{c.Shard, c.Index}.name())
			if err := fs.Rename(path, asidePath(fs, path)); err != nil {
				return in.report, err
			}
		}
	}
	for i, number := range in.seen {
		if in.bad[number] {
			err = in.rebuild(number)
		} else if i == len(in.seen)-1 {
			err = in.cutTorn(number)
		}
		if err != nil {
			return in.report, inFile(wal.SegmentName(number), err)
		}
	}
	if err := fs.SyncDir(dir); err != nil {
		return in.report, inFile(dir, err)
	}
	return in.report, nil
}

func (in *inspection) cutTorn(number uint64) error {
	torn := slices.ContainsFunc(in.report.Damage, func(d Damage) bool { return d.Torn })
	if !torn {
		return nil
	}
	f, err := in.fs.OpenReadWrite(filepath.Join(in.dir, wal.SegmentName(number)))
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Truncate(in.cut); err != nil {
		return err
	}
	return f.Datasync()
}

// rebuild sets a copy of a segment aside and replaces the segment with its intact frames.
func (in *inspection) rebuild(number uint64) error {
	path := filepath.Join(in.dir, wal.SegmentName(number))
	old, err := in.fs.Open(path)
	if err != nil {
		return err
	}
	defer old.Close()
	size, err := old.Size()
	if err != nil {
		return err
	}
	if in.cut > 0 && number == in.seen[len(in.seen)-1] {
		size = in.cut
	}
	f, err := in.fs.Create(path + tmpSuffix)
	if err != nil {
		return err
	}
	defer f.Close()
	out := wal.NewSegmentWriter(io.NewOffsetWriter(f, 0), number, rand.Uint32()) // #nosec G404 -- tells files apart; no secret
	err = intactFrames(old, size, number, func(h wal.Header, payload []byte) error {
		h.Flags &= wal.Gap // the rest of its group may be lost
		if in.gaps[entryID{h.Shard, h.Index}] {
			h.Flags = wal.Gap
		}
		return out.Add(&h, payload)
	}, func(int64, int64) {})
	if err != nil {
		return err
	}
	if _, _, err := out.Seal(); err != nil {
		return err
	}
	if err := f.Datasync(); err != nil {
		return err
	}
	if err := vfs.Copy(in.fs, old, asidePath(in.fs, path)); err != nil {
		return err
	}
	return in.fs.Rename(path+tmpSuffix, path)
}

// asidePath returns a new name for a damaged file: an earlier repair may have set one aside.
func asidePath(fs vfs.FS, path string) string {
	aside := path + damagedSuffix
	for n := 2; ; n++ {
		if _, err := fs.Stat(aside); err != nil {
			return aside
		}
		aside = fmt.Sprintf("%s.%d%s", path, n, damagedSuffix)
	}
}
