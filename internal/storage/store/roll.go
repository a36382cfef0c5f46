package store

import (
	"fmt"

	"fiveways.dev/fiveways/internal/storage/vfs"
	"fiveways.dev/fiveways/internal/storage/wal"
)

// roll seals the current segment and starts the next one. The old one is durable before the new one
// exists, so only the last segment of a log can have a torn end.
func (c *committer) roll(next *segment) {
	c.seal()
	if c.failed != nil {
		return
	}
	var f vfs.File
	c.untilRoom(func() (err error) {
		f, err = createSegment(c.s, next)
		return err
	})
	if c.failed != nil {
		return
	}
	c.s.files.add(c.seg.img)
	c.begin(next, f, wal.SegmentHeaderSize)
}

// begin continues at an offset up to which a segment is durable. No reader knows its image yet.
func (c *committer) begin(seg *segment, f vfs.File, at int64) {
	c.seg, c.file = seg, f
	c.at, c.synced, c.laid = at, at, at
	seg.img.file, seg.img.users = f, 1
}

func (c *committer) seal() {
	seg := c.seg
	// The index no longer changes: Append has moved to a later segment.
	c.buf = wal.AppendFooter(c.buf[:0], seg.img.salt, seg.number, c.at, uint32(c.synced), seg.index)
	c.writeBuf()
	if c.failed == nil {
		if err := c.cutZeros(); err != nil {
			c.fail(err)
		}
	}
	if c.failed != nil {
		return
	}
	c.sync()
	if c.failed != nil {
		return
	}
	c.s.mu.Lock()
	seg.sealed, seg.bytes = true, c.at
	c.s.mu.Unlock()
}

// createSegment creates the file of a segment with a durable header and name. It may be retried.
func createSegment(s *Store, seg *segment) (vfs.File, error) {
	f, err := s.fs.Create(seg.img.path)
	if err != nil {
		return nil, err
	}
	if _, err = f.WriteAt(wal.AppendSegmentHeader(nil, seg.number, seg.img.salt), 0); err == nil && !s.opts.Scratch {
		// ENOSPC from these two is a failed sync like any other, and does not mean a full disk.
		if serr := f.Datasync(); serr != nil {
			err = fmt.Errorf("store: sync %s: %v", seg.img.name, serr)
		} else if serr := s.fs.SyncDir(s.dir); vfs.IsOutOfFiles(serr) {
			err = serr // nothing was synced
		} else if serr != nil {
			err = fmt.Errorf("store: sync %s: %v", s.dir, serr)
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	s.mu.Lock()
	seg.written, seg.bytes = wal.SegmentHeaderSize, wal.SegmentHeaderSize
	s.mu.Unlock()
	return f, nil
}
