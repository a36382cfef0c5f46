package management

import (
	"fmt"
	"os"
	"regexp"
	"strings"
)

// knownDifference is a line of known.txt, `requests | places | reason`: a difference from RabbitMQ that is meant. The first two are regular
// expressions, for a line of a script and for a line of differences. A reason that begins with `sometimes: ` is one of what not every run shows.
type knownDifference struct {
	line             string
	sometimes        bool // it depends on the moment
	requests, places *regexp.Regexp
	used             bool
}

func readKnown(file string) (list []*knownDifference, err error) {
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
		k := &knownDifference{line: line, sometimes: strings.HasPrefix(parts[2], "sometimes: ")}
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

// unknown are those of the differences in the answer to a line that are not known.
func unknown(line string, known []*knownDifference, found []string) (out []string) {
	for _, d := range found {
		meant := false
		for _, k := range known {
			if k.requests.MatchString(line) && k.places.MatchString(d) {
				k.used, meant = true, true
			}
		}
		if !meant {
			out = append(out, d)
		}
	}
	return out
}
