package store

const (
	// zeroBytes is how far the file is extended with zeros beyond the written part.
	zeroBytes = 512 << 10
	// smallWrite is the largest write worth preparing for: a larger one spreads the cost of growing
	// the file over many entries.
	smallWrite = 32 << 10
)

var zeros [zeroBytes]byte

// layOut keeps zeros ahead of small writes that will be synced. A sync of overwritten bytes costs
// about half as much as one after the file grew, because growth also writes the file system's
// journal. Recovery treats zeros as the end of the log.
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
	if isFull(err) { // not needed: the next write finds out whether there is space for entries
		err = c.file.Truncate(c.at)
	}
	if err != nil {
		c.fail(err)
	}
}

// cutZeros truncates the file to the end of the log.
func (c *committer) cutZeros() error {
	if c.laid <= c.at {
		return nil
	}
	c.laid = c.at
	return c.file.Truncate(c.at)
}
