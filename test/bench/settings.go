package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// settings of a run, from the command line.
type settings struct {
	repetitions int
	duration    time.Duration // measured time of each load
	scale       float64       // share of the counts (backlog, connections, queues, bindings)
	only        string        // prefixes of case names, separated by commas; "" = all
	oursOnly    bool
	big         bool
	install     bool
	ours        string // binary of Fiveways; "" = build it
	json, doc   string // files to write; "" = none
	list        bool
}

var errUsage = errors.New("bench: usage")

func parseSettings(args []string, output io.Writer) (settings, error) {
	var s settings
	var quick bool
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(output)
	f.IntVar(&s.repetitions, "n", 3, "repetitions of each case; the table shows medians")
	f.DurationVar(&s.duration, "d", 8*time.Second, "measured time of each load")
	f.Float64Var(&s.scale, "scale", 1, "share of the messages, connections, queues and bindings of the counting cases, above 0 up to 1")
	f.BoolVar(&quick, "quick", false, "short for -n 1 -d 1s -scale 0.02: shows that it works, says little about speed")
	f.StringVar(&s.only, "only", "", "run the cases whose name starts with this, or with one of these, by commas")
	f.BoolVar(&s.oursOnly, "ours-only", false, "run Fiveways alone")
	f.BoolVar(&s.big, "big", false, "also the cases of many millions of messages and many thousands of queues, Fiveways only")
	f.BoolVar(&s.install, "install", false, "install RabbitMQ with apt-get when it is missing")
	f.StringVar(&s.ours, "ours", "", "binary of Fiveways (default: build it)")
	f.StringVar(&s.json, "json", "", "write all samples to this file")
	f.StringVar(&s.doc, "doc", "", "write the page with table, machine and versions to this file")
	f.BoolVar(&s.list, "list", false, "list the cases and stop")
	if err := f.Parse(args); err != nil {
		return s, fmt.Errorf("%w: %w", errUsage, err)
	}
	if quick {
		s.repetitions, s.duration, s.scale = 1, time.Second, 0.02
	}
	switch {
	case f.NArg() > 0:
		return s, fmt.Errorf("%w: unexpected %q", errUsage, f.Arg(0))
	case s.repetitions < 1:
		return s, fmt.Errorf("%w: -n must be at least 1", errUsage)
	case s.duration < time.Second:
		return s, fmt.Errorf("%w: -d must be at least 1s", errUsage)
	case s.scale <= 0 || s.scale > 1:
		return s, fmt.Errorf("%w: -scale must be above 0 and at most 1", errUsage)
	}
	return s, nil
}

// asksFor reports whether a case is to be run.
func (s settings) asksFor(name string) bool {
	return slices.ContainsFunc(strings.Split(s.only, ","), func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// scaled returns n times the scale, rounded up to a multiple.
func (s settings) scaled(n, multiple int64) int64 {
	share := int64(float64(n) * s.scale)
	return max(1, (share+multiple-1)/multiple) * multiple
}

// String returns the settings on which the numbers depend.
func (s settings) String() string {
	text := fmt.Sprintf("median of %d, %v per load", s.repetitions, s.duration)
	if s.scale != 1 {
		text += fmt.Sprintf(", counts scaled by %g", s.scale)
	}
	return text
}
