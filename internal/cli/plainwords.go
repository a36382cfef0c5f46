package cli

import (
	"regexp"
	"strings"
)

// RabbitMQ's API shows values in the notation of Erlang in some of its refusals, and its clients
// match the texts.
var (
	erlangPairs  = regexp.MustCompile(`\{<<"([^"]*)">>,((?:<<"[^"]*">>|[^{}])*)\}`) // {<<"max-length">>,5}
	erlangString = regexp.MustCompile(`<<"([^"]*)">>`)
	erlangMap    = regexp.MustCompile(`#\{([^{}]*)\}`)
	erlangList   = regexp.MustCompile(`\[([^\[\]]*)\]`)
	lineBreaks   = regexp.MustCompile(`[ \t]*\n+[ \t]*`)
)

// plainWords is a refusal for people: without the notation of Erlang, in one line. A text without
// it stays as it is.
func plainWords(text string) string {
	if !strings.Contains(text, `<<"`) {
		return text
	}
	text = lineBreaks.ReplaceAllString(strings.TrimSpace(text), ": ")
	text = erlangPairs.ReplaceAllString(text, "$1: $2")
	text = erlangList.ReplaceAllString(text, "$1")
	text = erlangMap.ReplaceAllString(text, "{$1}")
	return strings.ReplaceAll(erlangString.ReplaceAllString(text, "'$1'"), " => ", ": ")
}
