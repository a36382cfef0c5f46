package brokerapi

import (
	"regexp"
	"strings"

	"fiveways.dev/fiveways/internal/cli/display"
)

// RabbitMQ's API has values in Erlang notation in some of its refusals, and its clients match these
// texts.
var (
	erlangPairs  = regexp.MustCompile(`\{<<"((?:[^"\\]|\\.)*)">>,((?:<<"(?:[^"\\]|\\.)*">>|[^{}])*)\}`) // {<<"max-length">>,5}
	erlangString = regexp.MustCompile(`<<"((?:[^"\\]|\\.)*)">>`)
	erlangMap    = regexp.MustCompile(`#\{([^{}]*)\}`)
	erlangList   = regexp.MustCompile(`\[([^\[\]]*)\]`)
)

// reasonCode matches the code for programs at the beginning of some refusals: no_such_user,
// NOT_FOUND.
var reasonCode = regexp.MustCompile(`^(?:[a-z]+(?:_[a-z]+)+: |(?:\d{3} )?[A-Z]+(?:_[A-Z]+)+ - )`)

// plainWords rewrites a refusal for people: in one line, without Erlang notation and without the
// code at its beginning.
func plainWords(text string) string {
	text = strings.TrimSpace(text)
	if user, ok := strings.CutPrefix(text, "no_such_user: "); ok {
		return "user '" + user + "': no such user"
	}
	text = reasonCode.ReplaceAllString(text, "")
	if head, rest, ok := strings.Cut(text, "\n"); ok {
		text = strings.TrimSpace(head) + ": " + display.OneLine(rest)
	}
	if !strings.Contains(text, `<<"`) {
		return text
	}
	text = erlangPairs.ReplaceAllString(text, "$1: $2")
	text = erlangList.ReplaceAllString(text, "$1")
	text = erlangMap.ReplaceAllString(text, "{$1}")
	return strings.ReplaceAll(erlangString.ReplaceAllString(text, "'$1'"), " => ", ": ")
}
