package brokerapi

import (
	"regexp"
	"strings"

	"fiveways.dev/fiveways/internal/cli/display"
)

// RabbitMQ's API shows values in the notation of Erlang in some of its refusals, and its clients
// match the texts.
var (
	erlangPairs  = regexp.MustCompile(`\{<<"((?:[^"\\]|\\.)*)">>,((?:<<"(?:[^"\\]|\\.)*">>|[^{}])*)\}`) // {<<"max-length">>,5}
	erlangString = regexp.MustCompile(`<<"((?:[^"\\]|\\.)*)">>`)
	erlangMap    = regexp.MustCompile(`#\{([^{}]*)\}`)
	erlangList   = regexp.MustCompile(`\[([^\[\]]*)\]`)
)

// reasonCode matches the word for programs that some refusals begin with: no_such_user, NOT_FOUND.
var reasonCode = regexp.MustCompile(`^(?:[a-z]+(?:_[a-z]+)+: |(?:\d{3} )?[A-Z]+(?:_[A-Z]+)+ - )`)

// plainWords is a refusal for people: without the notation of Erlang and without a word for
// programs at its front, in one line.
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
