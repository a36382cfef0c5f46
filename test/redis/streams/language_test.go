package streams

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"fiveways.dev/fiveways/test/redis/duel"
)

// language maps the ids that one server generated from its clock to placeholders.
type language struct {
	given []string          // ids by the number of their placeholder
	names map[string]string // placeholders by id
}

var (
	placeHolder = regexp.MustCompile(`<\d+>`)
	clockID     = regexp.MustCompile(`\d{13}-\d+`)
	pendingOne  = regexp.MustCompile(`(\[\$"[^" ]+" \$"[^" ]*" :)(\d+)( :\d+\])`)
	idle        = regexp.MustCompile(`(\$"idle" :)(\d+)`)
	clockTime   = regexp.MustCompile(`\b\d{13}\b`)
	nodes       = regexp.MustCompile(`"radix-tree-nodes" :\d+`)
)

// Word replaces placeholders by ids: <n> stands for the n-th id from the clock.
func (l *language) Word(written string) string {
	return placeHolder.ReplaceAllStringFunc(written, func(s string) string {
		n, _ := strconv.Atoi(s[1 : len(s)-1])
		return l.given[n]
	})
}

// Replies replaces ids from the clock by their placeholders, omits times, and rounds idle times to
// hours.
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
