// Package option holds the options common to all benchmarks, and checks options.
package option

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Common holds the options of every benchmark.
type Common struct {
	URL      string        `json:"url"`             // of the server
	Loads    []string      `json:"loads,omitempty"` // in this order; known to the benchmark
	Duration time.Duration `json:"duration_ns"`     // of a load, or until its backlog is empty
}

// Check collects errors about invalid options, each named as on the command line.
type Check struct {
	invalid error
	errs    []error
}

// NewCheck returns a check whose errors all wrap invalid.
func NewCheck(invalid error) *Check { return &Check{invalid: invalid} }

// Err returns all errors joined, or nil if there are none.
func (c *Check) Err() error { return errors.Join(c.errs...) }

// That adds a formatted error unless ok is true.
func (c *Check) That(ok bool, format string, args ...any) {
	if !ok {
		c.errs = append(c.errs, fmt.Errorf("%w: "+format, append([]any{c.invalid}, args...)...))
	}
}

// NoError adds err unless it is nil.
func (c *Check) NoError(err error) {
	if err != nil {
		c.errs = append(c.errs, fmt.Errorf("%w: %w", c.invalid, err))
	}
}

// Within adds an error unless v is between low and high.
func (c *Check) Within(name string, v, low, high int) {
	c.That(v >= low && v <= high, "%s is %d; it must be from %d to %d", name, v, low, high)
}

// Common adds errors for a duration that is not positive, for unknown loads, and for a missing load
// if any are known.
func (c *Check) Common(o Common, known []string) {
	c.That(o.Duration > 0, "duration is %s; it must be more than 0", o.Duration)
	list := strings.Join(known, ", ")
	c.That(len(o.Loads) > 0 || known == nil, "no load is named; there are %s", list)
	for _, name := range o.Loads {
		c.That(slices.Contains(known, name), "there is no load %q; there are %s", name, list)
	}
}
