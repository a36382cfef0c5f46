//go:build nextlevel

package replica

import (
	"fiveways.dev/fiveways/internal/core/codec"
	"fiveways.dev/fiveways/internal/replica/level"
)

// ownNote is an entry without effect, of a kind unknown to the previous version.
const ownNote = 4

func init() {
	own[ownNote] = func(_ *core, r *codec.Reader, _ bool) error { return r.End() }
	duties = append(duties, (*core).note)
}

// note periodically logs a note, as soon as the level allows it.
func (c *core) note() {
	if c.leading != nil && c.disk.members.level == level.Supported.Newest && c.ticks%keepTicks == 0 {
		c.proposeOwn([]byte{ownNote}, func(error) {})
	}
}
