// Package level numbers what the log of a cluster may hold. A version of Fiveways that logs entries
// or facts of a new kind does so from the next level on, which the cluster reaches when all of its
// nodes support it (docs/adr/0040-a-gate-for-new-entries.md).
package level

import (
	"encoding/binary"
	"errors"
	"fmt"

	"fiveways.dev/fiveways/internal/core/codec"
)

// First is the level of the clusters that were there before levels were.
const First = 1

// this is the levels that this version supports.
var this = Range{Oldest: First, Newest: First}

// ErrUnsupported says that a version does not support the level of a log.
var ErrUnsupported = errors.New("level: not supported")

// Range is the levels that a version supports: one, or two neighbouring ones. Nothing is known of a
// version whose range is empty.
type Range struct {
	Oldest uint64 `json:"oldest"`
	Newest uint64 `json:"newest"`
}

// Check returns ErrUnsupported, with the way out, for a level that the range does not have.
func (r Range) Check(level uint64) error {
	switch {
	case level > r.Newest:
		return fmt.Errorf("%w: the log of the cluster is at level %d, and the version that is installed supports %s: install that of the other nodes, or a newer one", ErrUnsupported, level, r)
	case level < r.Oldest:
		return fmt.Errorf("%w: the log of the cluster is at level %d, and the version that is installed supports %s: install that of the other nodes; upgrade without skipping a version", ErrUnsupported, level, r)
	}
	return nil
}

// String is for people.
func (r Range) String() string {
	if r.Oldest == r.Newest {
		return fmt.Sprintf("level %d", r.Newest)
	}
	return fmt.Sprintf("levels %d and %d", r.Oldest, r.Newest)
}

// Append appends the range.
func (r Range) Append(dst []byte) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(dst, r.Oldest), r.Newest)
}

// Read reads what Append has written.
func Read(r *codec.Reader) Range { return Range{r.Uvarint(), r.Uvarint()} }
