package conformance

import (
	"fmt"
	"regexp"
	"time"
)

// mask replaces what differs by nature between two runs of a script: the numbers in iids, in order
// of appearance, the sessions and numbers in the names of temporary queues, and times near the
// current time. The session masks columns named id completely.
type mask struct {
	seen map[string]string
	n    map[string]int
}

func newMask() *mask { return &mask{seen: map[string]string{}, n: map[string]int{}} }

var (
	temporary = regexp.MustCompile(`\btemp\.[0-9a-f]{8}\.\d+\b`)
	iid       = regexp.MustCompile(`\b[a-z][a-z0-9_]*\.\d+\b`)
	moment    = regexp.MustCompile(`\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?([+-]\d\d(:\d\d)?)?`)
)

// aboutNow is how far a time may be from now to be masked. Times in scripts are farther away.
const aboutNow = 72 * time.Hour

func (m *mask) apply(text string) string {
	text = temporary.ReplaceAllStringFunc(text, func(s string) string { return m.name(s, "temp.<%d>") })
	text = iid.ReplaceAllStringFunc(text, func(s string) string {
		for i := range s {
			if s[i] == '.' {
				return m.name(s, s[:i]+".<%d>")
			}
		}
		return s
	})
	return moment.ReplaceAllStringFunc(text, func(s string) string {
		at, err := time.Parse("2006-01-02 15:04:05", s[:19])
		if err != nil || time.Since(at).Abs() > aboutNow {
			return s
		}
		return "<time>"
	})
}

// name assigns the next number of the pattern to a text that was not seen before.
func (m *mask) name(s, pattern string) string {
	if known, ok := m.seen[s]; ok {
		return known
	}
	m.n[pattern]++
	m.seen[s] = fmt.Sprintf(pattern, m.n[pattern])
	return m.seen[s]
}
