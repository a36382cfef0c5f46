package oracle

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"
)

//go:embed expected_differences.txt
var expectedText string

// difference is an intended difference from RabbitMQ.
type difference struct {
	reason           string
	rabbit, fiveways *regexp.Regexp
}

// expectedDifferences reads expected_differences.txt.
func expectedDifferences() ([]difference, error) {
	var all []difference
	for block := range strings.SplitSeq(expectedText, "\n\n") {
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
					err = fmt.Errorf("unknown line %q", line)
				}
			}
			if err != nil {
				return nil, fmt.Errorf("oracle: expected_differences.txt: %w", err)
			}
		}
		if d.reason == "" && d.rabbit == nil && d.fiveways == nil {
			continue // a comment
		}
		if d.reason == "" || d.rabbit == nil || d.fiveways == nil {
			return nil, fmt.Errorf("oracle: expected_differences.txt: incomplete entry: %q", block)
		}
		all = append(all, d)
	}
	return all, nil
}

// fits reports whether the answers of both brokers to the same line differ in this way.
func (d *difference) fits(rabbit, fiveways []string) bool {
	return d.rabbit.MatchString(strings.Join(rabbit, "\n")) && d.fiveways.MatchString(strings.Join(fiveways, "\n"))
}
