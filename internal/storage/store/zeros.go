package store

const (
	// zeroBytes is how far the file is laid out with zeros beyond what is written.
	zeroBytes = 512 << 10
	// smallWrite is the size up to which a write is worth it: a large one spreads what the growth
	// of a file costs over many entries.
	smallWrite = 32 << 10
)

var zeros [zeroBytes]byte

// layOut keeps zeros ahead of small writes that will be synced. A sync of bytes that are
// overwritten costs about half as much as one after which the file is larger, for then the file
// system has to write its journal too. Recovery takes zeros for the end of the log.
func (c *committer) layOut(written int) {
	if c.at <= c.laid {
		return
	}
	c.laid = c.at
	if written > smallWrite || c.s.opts.Scratch || c.s.opts.Sync == SyncOS {
		return
	}
	_, err := c.file.WriteAt(zeros[:], c.at)
	if err == nil {
		c.laid += zeroBytes
		return
	}
	if isFull(err) { // it goes on without: the next write sees whether there is room for what matters
		err = c.file.Truncate(c.at)
	}
	if err != nil {
		c.fail(err)
	}
}

// cutZeros ends the file where the log ends.
func (c *committer) cutZeros() error {
	if c.laid <= c.at {
		return nil
	}
	c.laid = c.at
	return c.file.Truncate(c.at)
}
