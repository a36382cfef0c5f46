// Package option has the options that all benchmarks share, and checks options.
package option

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Common are the options that every benchmark has.
type Common struct {
	URL      string        `json:"url"`             // of the server
	Loads    []string      `json:"loads,omitempty"` // one after the other, of those that the benchmark knows
	Duration time.Duration `json:"duration_ns"`     // end of each load; one that only takes ends earlier when the backlog does
}

// Check gathers the options that are out of their range, each named as the command line spells it.
type Check struct {
	invalid error
	errs    []error
}

// NewCheck returns a check whose errors all wrap invalid.
func NewCheck(invalid error) *Check { return &Check{invalid: invalid} }

// Err is all that was found wrong; nil when that is nothing.
func (c *Check) Err() error { return errors.Join(c.errs...) }

// That reports what the format says, unless ok.
func (c *Check) That(ok bool, format string, args ...any) {
	if !ok {
		c.errs = append(c.errs, fmt.Errorf("%w: "+format, append([]any{c.invalid}, args...)...))
	}
}

// NoError reports err, unless it is nil.
func (c *Check) NoError(err error) {
	if err != nil {
		c.errs = append(c.errs, fmt.Errorf("%w: %w", c.invalid, err))
	}
}

// Within reports v unless it is from low to high.
func (c *Check) Within(name string, v, low, high int) {
	c.That(v >= low && v <= high, "%s is %d; it must be from %d to %d", name, v, low, high)
}

// Common reports a duration that is not above 0, loads that are none of known, and that none is
// wanted where some are known.
func (c *Check) Common(o Common, known []string) {
	c.That(o.Duration > 0, "duration is %s; it must be more than 0", o.Duration)
	list := strings.Join(known, ", ")
	c.That(len(o.Loads) > 0 || known == nil, "no load is named; there are %s", list)
	for _, name := range o.Loads {
		c.That(slices.Contains(known, name), "there is no load %q; there are %s", name, list)
	}
}
