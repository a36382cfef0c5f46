package replica

import (
	"encoding/binary"
	"errors"
	"fmt"

	"fiveways.dev/fiveways/internal/core/codec"
	"fiveways.dev/fiveways/internal/storage/store"
)

// The first byte of an entry of the replica itself is its kind. An entry for shards has
// batchVersion in its place.
const (
	ownKeep  = 2 // the index up to which all replicas drop the log
	ownCheck = 3 // the hash of a part of the leader's state at a place of the log
)

// ErrDiverged means that this node's state differs from the leader's at the same place of the log.
// To replace the node, have a node with an empty folder join.
var ErrDiverged = errors.New("replica: the state of this node differs from that of the leader")

// own maps each kind to the function that handles a committed entry. mine means that the current
// leadership of this node proposed it.
var own = map[byte]func(c *core, r *codec.Reader, mine bool) error{ownKeep: (*core).applyKeep, ownCheck: (*core).applyCheck}

// isOwn reports whether an entry with this data belongs to the replica itself.
func isOwn(data []byte) bool { return len(data) > 0 && own[data[0]] != nil }

// proposeOwn proposes an entry of the replica itself, after the waiting proposals. done is called
// once the entry is committed, or its outcome cannot be known.
func (c *core) proposeOwn(data []byte, done func(error)) {
	c.enqueue(proposal{log: c.leading, own: data, done: done})
}

// applyOwn applies a committed entry of the replica itself.
func (c *core) applyOwn(e *store.RaftEntry, mine bool) error {
	r := codec.NewReader(e.Data[1:])
	if err := own[e.Data[0]](c, &r, mine); err != nil {
		return fmt.Errorf("entry %d: %w", e.Index, err)
	}
	return nil
}

func (c *core) applyKeep(r *codec.Reader, _ bool) error {
	index := r.Uvarint()
	if err := r.End(); err != nil {
		return fmt.Errorf("%w: %w", errMalformed, err)
	}
	return c.letGo(index)
}

func (c *core) applyCheck(r *codec.Reader, mine bool) error {
	part, place, sum := r.Uvarint(), [2]uint64{r.Uvarint(), r.Uvarint()}, r.Uvarint()
	if err := r.End(); err != nil {
		return fmt.Errorf("%w: %w", errMalformed, err)
	}
	if mine {
		return nil
	}
	if here, ok := c.machine.Sum(uint32(part), place); ok && here != sum {
		return fmt.Errorf("%w: part %d after entry %d: hash %016x, the leader has %016x", ErrDiverged, part, place[0], here, sum)
	}
	return nil
}

func encodeKeep(index uint64) []byte { return binary.AppendUvarint([]byte{ownKeep}, index) }

func encodeCheck(part uint32, place [2]uint64, sum uint64) []byte {
	return codec.AppendUvarints([]byte{ownCheck}, uint64(part), place[0], place[1], sum)
}
