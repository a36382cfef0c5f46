package expr

import "strings"

// Misspelled returns the names of tables that are no functions of PostgreSQL: nothing would ever
// call what is behind them.
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

// CatalogEnds are the names of the first and of the last function of the catalog.
func CatalogEnds() (first, last string) {
	first, _, _ = strings.Cut(functionLines, "\t")
	lines := strings.Split(strings.TrimSpace(functionLines), "\n")
	last, _, _ = strings.Cut(lines[len(lines)-1], "\t")
	return first, last
}
