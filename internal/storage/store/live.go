package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"path/filepath"

	"fiveways.dev/fiveways/internal/storage/vfs"
)

// The file that names the live directory, see docs/format/log.md.
const (
	liveFile    = "live"
	liveMagic   = "5WAYSLIV"
	liveVersion = 1
	liveSize    = 8 + 4 + 4 + 4
)

// slots are the directories, relative to the store's, that take turns holding an installed
// snapshot.
var slots = [...]string{"", "snapshot-1", "snapshot-2"}

func slotDir(root string, slot int) string { return filepath.Join(root, slots[slot]) }

// liveSlot returns the slot of the log and checkpoints: root itself before the first snapshot.
func liveSlot(fsys vfs.FS, root string) (slot int, err error) {
	b, err := readSmallFile(fsys, root, liveFile, liveSize+1)
	if b == nil || err != nil {
		return 0, err
	}
	le := binary.LittleEndian
	if len(b) != liveSize || string(b[:len(liveMagic)]) != liveMagic || le.Uint32(b[16:]) != crc32.Checksum(b[:16], castagnoli) {
		return 0, inFile(liveFile, fmt.Errorf("%w: it names no folder", ErrCorrupt))
	}
	if v := le.Uint32(b[8:]); v != liveVersion {
		return 0, inFile(liveFile, fmt.Errorf("%w: version %d", ErrUnsupportedFormat, v))
	}
	n := le.Uint32(b[12:])
	if n == 0 || n >= uint32(len(slots)) {
		return 0, inFile(liveFile, fmt.Errorf("%w: folder %d", ErrCorrupt, n))
	}
	return int(n), nil
}

// liveDir is the directory of liveSlot.
func liveDir(fsys vfs.FS, root string) (string, error) {
	slot, err := liveSlot(fsys, root)
	return slotDir(root, slot), err
}

// setLive makes another slot, whose files are durable, the one with the log and the checkpoints.
func setLive(fsys vfs.FS, root string, slot int) error {
	le := binary.LittleEndian
	b := le.AppendUint32([]byte(liveMagic), liveVersion)
	b = le.AppendUint32(b, uint32(slot))
	return writeSmallFile(fsys, root, liveFile, le.AppendUint32(b, crc32.Checksum(b, castagnoli)))
}

// clearOthers removes the store's files from the slots that are not live: those replaced by a
// snapshot, and those of a snapshot received only in part.
func clearOthers(fsys vfs.FS, root string, live int) error {
	for slot := range slots {
		if slot != live {
			if err := clearSlot(fsys, root, slot); err != nil {
				return err
			}
		}
	}
	return nil
}

func clearSlot(fsys vfs.FS, root string, slot int) error {
	dir := slotDir(root, slot)
	l, err := readLayout(fsys, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := fsys.Stat(filepath.Join(dir, raftFile)); err == nil {
		l.tmp = append(l.tmp, raftFile)
	}
	for _, name := range append(l.names(), l.tmp...) {
		if err := fsys.Remove(filepath.Join(dir, name)); err != nil {
			return inFile(name, err)
		}
	}
	if slot != 0 {
		fsys.Remove(dir) //nolint:errcheck // it may hold other files
	}
	return nil
}

// writeSmallFile replaces a file atomically: after a crash it holds the old content or b.
func writeSmallFile(fsys vfs.FS, dir, name string, b []byte) error {
	if err := vfs.Replace(fsys, filepath.Join(dir, name), b); err != nil {
		return inFile(name, err)
	}
	return nil
}

// readSmallFile returns the first bytes of a file, up to most, or nil if it does not exist.
func readSmallFile(fsys vfs.FS, dir, name string, most int64) ([]byte, error) {
	b, err := vfs.ReadSmall(fsys, filepath.Join(dir, name), most)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, inFile(name, err)
	}
	return b, nil
}
