//go:build nextlevel

package replica

import (
	"fiveways.dev/fiveways/internal/core/codec"
	"fiveways.dev/fiveways/internal/replica/level"
)

// ownNote is an entry without effect, of a kind that the previous version does not have.
const ownNote = 4

func init() {
	own[ownNote] = func(_ *core, r *codec.Reader, _ bool) error { return r.End() }
	duties = append(duties, (*core).note)
}

// note logs a note now and then, as soon as that is allowed.
func (c *core) note() {
	if c.leading != nil && c.disk.members.level == level.Supported.Newest && c.ticks%keepTicks == 0 {
		c.proposeOwn([]byte{ownNote}, func(error) {})
	}
}
