package access

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"fiveways.dev/fiveways/internal/core/pattern"
)

// ErrPattern means that a text is not a valid regular expression.
var ErrPattern = errors.New("not a valid regular expression")

// Everything is the pattern that matches every name.
const Everything = ".*"

// Pattern is a regular expression that is searched in names. The empty pattern matches only the
// empty name, the zero value nothing.
type Pattern struct {
	source string
	re     *pattern.Pattern
}

// Compile compiles a pattern. It returns ErrPattern if the pattern is invalid.
func Compile(source string) (*Pattern, error) {
	re, err := pattern.Compile(cmp.Or(source, "^$"))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPattern, err)
	}
	return &Pattern{source: source, re: re}, nil
}

// String returns the source of the pattern.
func (p *Pattern) String() string { return p.source }

// Everything reports whether every name matches.
func (p *Pattern) Everything() bool { return p.source == Everything }

// Match reports whether the pattern is found in name.
func (p *Pattern) Match(name string) bool {
	return p.re != nil && (p.Everything() || p.re.Match(name))
}

// MatchBytes is Match for bytes.
func (p *Pattern) MatchBytes(name []byte) bool {
	return p.re != nil && (p.Everything() || p.re.MatchBytes(name))
}

// Variables are the values for a topic template.
type Variables struct {
	Username string
	VHost    string
	ClientID string // "": the protocol has none, and {client_id} is not replaced
}

// Expand expands the template of a topic permission: {username}, {vhost} and {client_id} are
// replaced by their values, literally. If the result is not a valid pattern, it matches nothing.
func Expand(template string, v Variables) *Pattern {
	values := []string{"{username}", regexp.QuoteMeta(v.Username), "{vhost}", regexp.QuoteMeta(v.VHost)}
	if v.ClientID != "" {
		values = append(values, "{client_id}", regexp.QuoteMeta(v.ClientID))
	}
	p, err := Compile(strings.NewReplacer(values...).Replace(template))
	if err != nil {
		return &Pattern{source: template}
	}
	return p
}

// CheckTemplate checks that a template is a valid pattern. It returns ErrPattern if not.
func CheckTemplate(template string) error {
	_, err := Compile(strings.NewReplacer("{username}", "u", "{vhost}", "v", "{client_id}", "c").Replace(template))
	return err
}
