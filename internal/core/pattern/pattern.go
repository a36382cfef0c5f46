package pattern

import (
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dlclark/regexp2"
)

// Bounds of how long one name may keep the matcher that goes back. Its clock is advanced by a
// goroutine, ten times a second: where that one waits for a processor, or the process was halted,
// the clock stands still and then leaps, and the matcher gives up too early. So a name must take
// too long several times in a row.
const (
	patience = time.Second // each time
	tries    = 3
)

// backtracker is a matcher that goes back over its tracks, and fails only when it took too long.
type backtracker interface {
	MatchString(name string) (bool, error)
}

// Pattern is a compiled regular expression. It is found anywhere in a name. Many goroutines may use
// it.
type Pattern struct {
	linear *regexp.Regexp // nil: RE2 does not know it
	back   backtracker    // instead
	spent  atomic.Bool    // back took too long for a name: the pattern matches nothing any more
}

// Compile reads a pattern. The error says what RE2 has against it.
func Compile(text string) (*Pattern, error) {
	linear, err := regexp.Compile(text)
	if err == nil {
		return &Pattern{linear: linear}, nil
	}
	back, backErr := regexp2.Compile(text, regexp2.None)
	if backErr != nil {
		return nil, invalid(strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	back.MatchTimeout = patience
	return &Pattern{back: back}, nil
}

// invalid is why a text is no pattern.
type invalid string

func (e invalid) Error() string { return string(e) }

// Match reports whether the pattern is found in a name.
func (p *Pattern) Match(name string) bool {
	if p.linear != nil {
		return p.linear.MatchString(name)
	}
	return p.goBack(name)
}

// MatchBytes is Match for bytes.
func (p *Pattern) MatchBytes(name []byte) bool {
	if p.linear != nil {
		return p.linear.Match(name)
	}
	return p.goBack(string(name))
}

func (p *Pattern) goBack(name string) bool {
	if p.spent.Load() {
		return false
	}
	for range tries {
		if found, err := p.back.MatchString(name); err == nil {
			return found
		}
	}
	p.spent.Store(true)
	return false
}
