package oracle

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"
)

//go:embed known.txt
var knownText string

// difference is one that is meant.
type difference struct {
	reason           string
	rabbit, fiveways *regexp.Regexp
}

// knownDifferences reads known.txt.
func knownDifferences() ([]difference, error) {
	var all []difference
	for block := range strings.SplitSeq(knownText, "\n\n") {
		var d difference
		for line := range strings.Lines(block) {
			key, text, _ := strings.Cut(strings.TrimRight(line, "\n"), ":")
			text = strings.TrimPrefix(text, " ")
			var err error
			switch key {
			case "reason":
				d.reason = text
			case "rabbitmq":
				d.rabbit, err = regexp.Compile(text)
			case "fiveways":
				d.fiveways, err = regexp.Compile(text)
			default:
				if !strings.HasPrefix(line, "#") {
					err = fmt.Errorf("what is %q", line)
				}
			}
			if err != nil {
				return nil, fmt.Errorf("oracle: known.txt: %w", err)
			}
		}
		if d.reason == "" && d.rabbit == nil && d.fiveways == nil {
			continue // a comment
		}
		if d.reason == "" || d.rabbit == nil || d.fiveways == nil {
			return nil, fmt.Errorf("oracle: known.txt: a difference is not whole: %q", block)
		}
		all = append(all, d)
	}
	return all, nil
}

// fits tells whether this is the difference between two answers to the same line.
func (d *difference) fits(rabbit, fiveways []string) bool {
	return d.rabbit.MatchString(strings.Join(rabbit, "\n")) && d.fiveways.MatchString(strings.Join(fiveways, "\n"))
}
