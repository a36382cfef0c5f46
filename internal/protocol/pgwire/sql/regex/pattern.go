package regex

import (
	"regexp"
	"sync"
	"unicode/utf8"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// Pattern is a compiled regular expression. It is safe for concurrent use.
type Pattern struct {
	root    *node
	fold    bool
	groups  []*node
	plain   *regexp.Regexp // matches the same texts; nil: none
	findsIt bool           // plain also finds the same matches
}

// patterns caches compiled patterns.
var patterns struct {
	sync.RWMutex
	byText map[key]*Pattern
}

type key struct {
	text string
	options
}

// maxPatterns is the maximum number of cached patterns.
const maxPatterns = 500

// Compile compiles a pattern with PostgreSQL's flags. global reports whether the flag g is set,
// which the caller handles. Errors are PostgreSQL's: 2201B for a pattern, 22023 for a flag.
func Compile(text, flags string) (p *Pattern, global bool, err error) {
	k := key{text: text}
	for _, f := range flags {
		switch {
		case f == 'g':
			global = true
		case f == 'b':
			return nil, false, pgerror.New(pgerror.FeatureNotSupported, "regular expression option \"b\" is not supported")
		case !k.set(f):
			return nil, false, pgerror.New(pgerror.InvalidParameterValue, "invalid regular expression option: \"%c\"", f)
		}
	}
	patterns.RLock()
	p = patterns.byText[k]
	patterns.RUnlock()
	if p != nil {
		return p, global, nil
	}
	if p, err = compile(k); err != nil {
		return nil, false, err
	}
	patterns.Lock()
	defer patterns.Unlock()
	if len(patterns.byText) >= maxPatterns || patterns.byText == nil {
		patterns.byText = map[key]*Pattern{}
	}
	patterns.byText[k] = p
	return p, global, nil
}

func compile(k key) (*Pattern, error) {
	read := parser{options: k.options, in: k.text}
	root, err := read.parse()
	if err != nil {
		return nil, err
	}
	p := &Pattern{root: root, fold: read.fold, groups: read.groups}
	p.plain, p.findsIt = plain(root)
	p.findsIt = p.findsIt && len(p.groups) == 0
	return p, nil
}

// Groups returns the number of groups in the pattern.
func (p *Pattern) Groups() int { return len(p.groups) }

// Match reports whether s has a match. It returns the error 2201B if matching takes too many steps.
func (p *Pattern) Match(s string) (bool, error) {
	if p.plain != nil {
		return p.plain.MatchString(s), nil
	}
	m := p.matcher(s)
	found := m.find(0)
	if m.steps > maxSteps {
		return false, errFailed
	}
	return found, nil
}

// Find returns the first match, in the format of All, or nil if there is none.
func (p *Pattern) Find(s string) ([]int, error) {
	all, err := p.All(s, 0, 1)
	if len(all) == 0 {
		return nil, err
	}
	return all[0], err
}

// All returns the matches that begin at offset from or later, at most limit (-1: no limit). Each
// match consists of its start and end offsets in s, followed by those of its groups, -1 for a group
// that did not match. An empty match may directly follow another match.
func (p *Pattern) All(s string, from, limit int) (all [][]int, err error) {
	switch {
	case from > len(s):
		return nil, nil
	case p.findsIt:
		return p.allPlain(s, from, limit), nil
	}
	m := p.matcher(s)
	for place := utf8.RuneCountInString(s[:from]); place <= len(m.text) && len(all) != limit && m.find(place); {
		found := make([]int, len(m.groups))
		for i, at := range m.groups {
			if found[i] = at; at >= 0 {
				found[i] = m.offsets[at]
			}
		}
		all = append(all, found)
		if place = m.groups[1]; m.groups[0] == m.groups[1] {
			place++
		}
	}
	if m.steps > maxSteps {
		return nil, errFailed
	}
	return all, nil
}

func (p *Pattern) allPlain(s string, from, limit int) (all [][]int) {
	for from <= len(s) && len(all) != limit {
		found := p.plain.FindStringIndex(s[from:])
		if found == nil {
			return all
		}
		begin, end := from+found[0], from+found[1]
		all = append(all, []int{begin, end})
		if from = end; begin == end {
			_, size := utf8.DecodeRuneInString(s[end:])
			from += max(size, 1)
		}
	}
	return all
}
