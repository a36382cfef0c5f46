package expr

import "strings"

// Misspelled returns the names in tables that are not functions of PostgreSQL, so that nothing can
// call them.
func (l *Library) Misspelled() (wrong []string) {
	known := map[string]bool{}
	for line := range strings.Lines(functionLines) {
		f := l.readFunction(strings.TrimSuffix(line, "\n"))
		known[f.impl], known[f.impl+signature(f)], known[f.impl+variadicForm] = true, true, true
		if f.kind == 'a' {
			known[AggregatePrefix+f.Name], known[AggregatePrefix+f.Name+signature(f)] = true, true
		}
	}
	for line := range strings.Lines(operatorLines) {
		known[l.readOperator(strings.TrimSuffix(line, "\n")).impl] = true
	}
	for name := range l.implementations {
		if !known[name] {
			wrong = append(wrong, name)
		}
	}
	return wrong
}

// CatalogEnds returns the names of the first and the last function in the catalog.
func CatalogEnds() (first, last string) {
	first, _, _ = strings.Cut(functionLines, "\t")
	lines := strings.Split(strings.TrimSpace(functionLines), "\n")
	last, _, _ = strings.Cut(lines[len(lines)-1], "\t")
	return first, last
}
