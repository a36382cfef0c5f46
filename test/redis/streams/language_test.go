package streams

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"fiveways.dev/fiveways/test/redis/duel"
)

// language knows the ids that one server gave by its clock.
type language struct {
	given []string          // by the number of its place-holder
	names map[string]string // place-holders by id
}

var (
	placeHolder = regexp.MustCompile(`<\d+>`)
	clockID     = regexp.MustCompile(`\d{13}-\d+`)
	pendingOne  = regexp.MustCompile(`(\[\$"[^" ]+" \$"[^" ]*" :)(\d+)( :\d+\])`)
	idle        = regexp.MustCompile(`(\$"idle" :)(\d+)`)
	clockTime   = regexp.MustCompile(`\b\d{13}\b`)
	nodes       = regexp.MustCompile(`"radix-tree-nodes" :\d+`)
)

// Word puts ids for place-holders: <n> stands for the n-th that came from the clock.
func (l *language) Word(written string) string {
	return placeHolder.ReplaceAllStringFunc(written, func(s string) string {
		n, _ := strconv.Atoi(s[1 : len(s)-1])
		return l.given[n]
	})
}

// Replies gives ids of the clock the names of their place-holders, leaves times out, and tells how
// long something is idle in hours.
func (l *language) Replies(_ duel.Step, replies []string) []string {
	for i := range replies {
		replies[i] = l.normal(replies[i])
	}
	return replies
}

func (l *language) normal(text string) string {
	text = clockID.ReplaceAllStringFunc(text, func(id string) string {
		if l.names[id] == "" {
			l.names[id] = fmt.Sprintf("<%d>", len(l.given))
			l.given = append(l.given, id)
		}
		return l.names[id]
	})
	text = clockTime.ReplaceAllString(text, "TIME")
	hours := func(re *regexp.Regexp) {
		text = re.ReplaceAllStringFunc(text, func(s string) string {
			part := re.FindStringSubmatch(s)
			n, _ := strconv.ParseInt(part[2], 10, 64)
			part[2] = fmt.Sprintf("%dh", n/time.Hour.Milliseconds())
			return strings.Join(part[1:], "")
		})
	}
	hours(pendingOne)
	hours(idle)
	return nodes.ReplaceAllString(text, `"radix-tree-nodes" :N`)
}
