package management

import (
	"fmt"
	"os"
	"regexp"
	"strings"
)

// expectedDifference is a line of expected_differences.txt, `requests | places | reason`: an
// intended difference from RabbitMQ. The first two are regular expressions, for a line of a script
// and for a line of differences. A reason that begins with `sometimes: ` marks a difference that
// not every run shows.
type expectedDifference struct {
	line             string
	sometimes        bool // depends on timing
	requests, places *regexp.Regexp
	used             bool
}

func readExpected(file string) (list []*expectedDifference, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for i, line := range strings.Split(string(text), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.Split(line, " | ")
		if len(parts) != 3 {
			return nil, fmt.Errorf("%s:%d: want `requests | places | reason`", file, i+1)
		}
		k := &expectedDifference{line: line, sometimes: strings.HasPrefix(parts[2], "sometimes: ")}
		if k.requests, err = regexp.Compile(strings.TrimSpace(parts[0])); err == nil {
			k.places, err = regexp.Compile("^(" + strings.TrimSpace(parts[1]) + ")")
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, i+1, err)
		}
		list = append(list, k)
	}
	return list, nil
}

// unexpected returns the differences in the answer to a line that no entry covers.
func unexpected(line string, expected []*expectedDifference, found []string) (out []string) {
	for _, d := range found {
		listed := false
		for _, k := range expected {
			if k.requests.MatchString(line) && k.places.MatchString(d) {
				k.used, listed = true, true
			}
		}
		if !listed {
			out = append(out, d)
		}
	}
	return out
}
