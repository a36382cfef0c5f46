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

// language removes what Redis does not define: the number of a connection, and the order of
// unordered replies.
type language struct{}

func (language) Word(written string) string { return written }

func (language) Replies(s duel.Step, replies []string) (all []string) {
	command := s.Text()
	for _, r := range replies {
		r = connectionID.ReplaceAllString(r, `$"id" :N`)
		switch {
		case strings.HasSuffix(command, "SUBSCRIBE") || strings.Contains(command, "SUBSCRIBE;"): // for all channels, in any order
			r = unsubscribed.ReplaceAllString(r, `$"${1}" NAME`)
		case strings.Contains(command, "CHANNELS"), strings.HasPrefix(command, "COMMAND INFO"):
			words := strings.FieldsFunc(r, func(r rune) bool { return strings.ContainsRune("*[] ", r) })
			slices.Sort(words)
			r = strings.Join(words, " ")
		}
		all = append(all, r)
	}
	if strings.Contains(command, ";") && (strings.Contains(command, "PUBLISH") || strings.Contains(command, "CHANNELS")) { // as above, within the reply to EXEC
		all = strings.FieldsFunc(strings.Join(all, " "), func(r rune) bool { return strings.ContainsRune("*>[] ", r) })
	}
	slices.Sort(all) // messages for matching patterns come in any order
	return all
}
