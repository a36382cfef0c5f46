package edge

import (
	"regexp"
	"slices"
	"strings"

	"fiveways.dev/fiveways/test/redis/duel"
)

var (
	connectionID = regexp.MustCompile(`\$"id" :\d+`)
	unsubscribed = regexp.MustCompile(`\$"([ps]?unsubscribe)" \$"[^"]*"`)
)

// language leaves out what Redis leaves open: the number of a connection, and the order of what is
// in none.
type language struct{}

func (language) Word(written string) string { return written }

func (language) Replies(s duel.Step, replies []string) (all []string) {
	command := s.Text()
	for _, r := range replies {
		r = connectionID.ReplaceAllString(r, `$"id" :N`)
		switch {
		case strings.HasSuffix(command, "SUBSCRIBE") || strings.Contains(command, "SUBSCRIBE;"): // all of them, in any order
			r = unsubscribed.ReplaceAllString(r, `$"${1}" NAME`)
		case strings.Contains(command, "CHANNELS"), strings.HasPrefix(command, "COMMAND INFO"):
			words := strings.FieldsFunc(r, func(r rune) bool { return strings.ContainsRune("*[] ", r) })
			slices.Sort(words)
			r = strings.Join(words, " ")
		}
		all = append(all, r)
	}
	if strings.Contains(command, ";") && (strings.Contains(command, "PUBLISH") || strings.Contains(command, "CHANNELS")) { // as above, amid the answer to EXEC
		all = strings.FieldsFunc(strings.Join(all, " "), func(r rune) bool { return strings.ContainsRune("*>[] ", r) })
	}
	slices.Sort(all) // patterns that match get a message in any order
	return all
}
