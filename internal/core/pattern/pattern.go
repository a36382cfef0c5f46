package pattern

import (
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dlclark/regexp2"
)

// Limits on the time that the backtracking matcher may spend on one name. A goroutine advances its
// clock ten times a second. If that goroutine waits for a processor, or the process was suspended,
// the clock stands still and then jumps, and the matcher gives up too early. So a name must take
// too long several times in a row.
const (
	patience = time.Second // per attempt
	tries    = 3
)

// backtracker is a backtracking matcher. It fails only if it took too long.
type backtracker interface {
	MatchString(name string) (bool, error)
}

// Pattern is a compiled regular expression. It matches anywhere in a name. Many goroutines may use
// it.
type Pattern struct {
	linear *regexp.Regexp // nil: RE2 does not support the pattern
	back   backtracker    // used if linear is nil
	spent  atomic.Bool    // back took too long for a name: the pattern now matches nothing
}

// Compile compiles a pattern. It returns the error of RE2 if the pattern is invalid.
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

// invalid is the reason why a text is not a valid pattern.
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
