// Package level numbers the sets of entries that the log of a cluster may hold. A version of
// Fiveways that logs new kinds of entries or facts does so only from the next level on. The cluster
// reaches it once all nodes support it (docs/adr/0040-a-gate-for-new-entries.md).
package level

import (
	"encoding/binary"
	"errors"
	"fmt"

	"fiveways.dev/fiveways/internal/core/codec"
)

// First is the level of clusters created before levels existed.
const First = 1

// this is the range of levels that this version supports.
var this = Range{Oldest: First, Newest: First}

// ErrUnsupported means that a version does not support the level of a log.
var ErrUnsupported = errors.New("level: not supported")

// Range is the range of levels that a version supports: one level, or two adjacent ones. An empty
// range means that nothing is known about the version.
type Range struct {
	Oldest uint64 `json:"oldest"`
	Newest uint64 `json:"newest"`
}

// Check returns ErrUnsupported, with advice for the operator, if level is outside of the range.
func (r Range) Check(level uint64) error {
	switch {
	case level > r.Newest:
		return fmt.Errorf("%w: the log of the cluster is at level %d, and the version that is installed supports %s: install that of the other nodes, or a newer one", ErrUnsupported, level, r)
	case level < r.Oldest:
		return fmt.Errorf("%w: the log of the cluster is at level %d, and the version that is installed supports %s: install that of the other nodes; upgrade without skipping a version", ErrUnsupported, level, r)
	}
	return nil
}

// String implements fmt.Stringer.
func (r Range) String() string {
	if r.Oldest == r.Newest {
		return fmt.Sprintf("level %d", r.Newest)
	}
	return fmt.Sprintf("levels %d and %d", r.Oldest, r.Newest)
}

// Append appends the encoded range.
func (r Range) Append(dst []byte) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(dst, r.Oldest), r.Newest)
}

// Read decodes what Append wrote.
func Read(r *codec.Reader) Range { return Range{r.Uvarint(), r.Uvarint()} }
