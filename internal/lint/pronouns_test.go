package lint

import (
	"regexp"
	"strings"
	"testing"
)

var (
	// personal are pronouns for people.
	personal = regexp.MustCompile(`(?i)\b(who|whom|whoever|he|him|his)\b`)
	// people are the nouns that may precede "who", at a distance of at most four words: "the user
	// of the session who", "operators, who".
	people = regexp.MustCompile(`(?i)\b(users?|operators?|administrators?|people|person)\b(\W+\w+){0,4}?,? (who|whom)\b`)
	// quoted matches quoted text, such as names of protocols, programs and error messages.
	quoted = regexp.MustCompile("`[^`]*`|\"[^\"]*\"")
)

// pronouns rejects comments that refer to goroutines, messages, queues and clients as persons.
func pronouns(s source) (complaints []string) {
	for _, group := range s.file.Comments {
		text := strings.ReplaceAll(group.Text(), "\n", " ")
		text = people.ReplaceAllString(quoted.ReplaceAllString(text, ""), "")
		if word := personal.FindString(text); word != "" {
			complaints = append(complaints, s.at(group)+": \""+word+"\" is for users and operators; name the thing instead")
		}
	}
	return complaints
}

func TestNoPronounsForThings(t *testing.T) {
	everywhere(t, pronouns)
	catches(t, pronouns, []planted{
		{"a user", "a.go", "package a\n\n// f fails for a user of the\n// broker who may not write.\nfunc f() {}", false},
		{"operators", "a.go", "package a\n\n// a is for operators, who may do everything.\nvar a int", false},
		{"a word of the protocol", "a.go", "package a\n\n// f answers `who`.\nfunc f() {}", false},
		{"another word", "a.go", "package a\n\nvar a int // as whoami has it, the whole of it", false},
		{"a goroutine", "a.go", "package a\n\n// f wakes who waits.\nfunc f() {}", true},
		{"a message", "a.go", "package a\n\nvar a int // he is gone", true},
		{"a client", "a.go", "package a\n\n// Whoever connects is welcome.\nvar a int", true},
	})
}
