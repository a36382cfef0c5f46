package replica

import (
	"encoding/binary"
	"fmt"

	"fiveways/internal/core/codec"
	"fiveways/internal/storage/store"
)

// The first byte of an entry that is the replica's own says what it is, where one for shards has
// batchVersion.
const (
	ownKeep = 2 // the index up to which all replicas let go of the log
)

// isOwn reports whether the data of an entry is the replica's own.
func isOwn(data []byte) bool { return len(data) > 0 && data[0] == ownKeep }

// proposeOwn proposes an entry of the replica's own, behind what waits. done is called when it is
// committed, and when that will not be known.
func (c *core) proposeOwn(data []byte, done func(error)) {
	c.waiting = append(c.waiting, proposal{log: c.reign, own: data, done: done})
}

// applyOwn does what a committed entry of the replica's own says.
func (c *core) applyOwn(e *store.RaftEntry) error {
	r := codec.NewReader(e.Data[1:])
	index := r.Uvarint()
	if err := r.End(); err != nil {
		return fmt.Errorf("replica: entry %d: %w: %w", e.Index, errMalformed, err)
	}
	return c.letGo(index)
}

func encodeKeep(index uint64) []byte { return binary.AppendUvarint([]byte{ownKeep}, index) }
