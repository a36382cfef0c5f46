package suites

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// The kinds of exceptions.
const (
	failsOnBoth     = "both"
	failsOnFiveways = "fiveways"
	failsOnRabbitMQ = "rabbitmq"
	failsOnRedis    = "redis"
	failsOnPostgres = "postgres"
	mayFail         = "may" // depends on the machine or on timing, not on the broker
	notRun          = "skip"
)

// exception is one line of exceptions.txt: `kind | case | reason`. A * in the name of the case
// stands for anything.
type exception struct {
	kind, name, reason string
	cases              *regexp.Regexp
}

func readExceptions(file string) ([]exception, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("suites: exceptions: %w", err)
	}
	var list []exception
	for i, line := range strings.Split(string(b), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.SplitN(line, " | ", 3)
		kinds := []string{failsOnBoth, failsOnFiveways, failsOnRabbitMQ, failsOnRedis, failsOnPostgres, mayFail, notRun}
		if len(parts) != 3 || parts[2] == "" || !slices.Contains(kinds, strings.TrimSpace(parts[0])) {
			return nil, fmt.Errorf("suites: %s:%d: want `kind | case | reason` with a kind of %s", file, i+1, strings.Join(kinds, ", "))
		}
		e := exception{kind: strings.TrimSpace(parts[0]), name: strings.TrimSpace(parts[1]), reason: strings.TrimSpace(parts[2])}
		pattern := strings.ReplaceAll(regexp.QuoteMeta(e.name), `\*`, ".*")
		e.cases = regexp.MustCompile("^" + pattern + "$")
		list = append(list, e)
	}
	return list, nil
}

// verdict compares the results of a suite on a broker with the exceptions, and returns what is
// wrong.
func verdict(results map[string]result, exceptions []exception, broker string) (wrong []string) {
	used := make([]bool, len(exceptions))
	for name, r := range results {
		i := slices.IndexFunc(exceptions, func(e exception) bool { return e.cases.MatchString(name) })
		var e exception
		if i >= 0 {
			e, used[i] = exceptions[i], true
		}
		want := e.kind == failsOnBoth || e.kind == broker
		switch {
		case e.kind == mayFail:
		case r.outcome == failed && !want:
			wrong = append(wrong, fmt.Sprintf("%s fails:\n%s", name, r.text))
		case r.outcome == passed && want:
			wrong = append(wrong, fmt.Sprintf("%s passes, but exceptions.txt has it as failing: %s", name, e.reason))
		}
	}
	for i, e := range exceptions {
		if !used[i] && e.kind != notRun {
			wrong = append(wrong, fmt.Sprintf("%s is in exceptions.txt, but there is no such case", e.name))
		}
	}
	slices.Sort(wrong)
	return wrong
}
