package semaphore

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Options say what load Run puts on which server. DefaultOptions is a valid start; the zero value is not.
type Options struct {
	URL      string        `json:"url"`         // redis://… or postgres://…
	Loads    []string      `json:"loads"`       // one after the other, of LoadNames
	Active   int           `json:"active"`      // tasks that run
	Waiting  int           `json:"waiting"`     // tasks that wait at the start of each load
	Rate     float64       `json:"rate"`        // handover: releases a second
	Clients  int           `json:"clients"`     // changes: connections
	Duration time.Duration `json:"duration_ns"` // end of each load
	Sweep    time.Duration `json:"sweep_ns"`    // of tables in a PostgreSQL that a sweep goes over; 0: the functions semaphore.* decide
}

// DefaultOptions measures the local broker over the Redis protocol.
func DefaultOptions() Options {
	return Options{
		URL: "redis://127.0.0.1:6380", Loads: LoadNames(), Active: 1000, Waiting: 100_000, Rate: 10, Clients: 4, Duration: 10 * time.Second,
	}
}

// ErrInvalid is wrapped by the error of every option out of its range.
var ErrInvalid = errors.New("semaphore bench: invalid option")

// Validate names each option that is out of its range, as the command line spells it.
func (o Options) Validate() error {
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf("%w: "+format, append([]any{ErrInvalid}, args...)...))
		}
	}
	within := func(name string, v, low, high int) {
		check(v >= low && v <= high, "%s is %d; it must be from %d to %d", name, v, low, high)
	}
	u, err := url.Parse(o.URL)
	check(err == nil && (isRedis(u.Scheme) || isPostgres(u.Scheme)), "the URL must begin with redis:// or postgres://")
	check(o.Sweep == 0 || err == nil && isPostgres(u.Scheme), "sweep is for a URL that begins with postgres://")
	check(o.Sweep >= 0, "sweep is %s; it must not be negative", o.Sweep)
	check(len(o.Loads) > 0, "no load is named; there are %s", strings.Join(LoadNames(), ", "))
	for _, name := range o.Loads {
		check(slices.Contains(LoadNames(), name), "there is no load %q; there are %s", name, strings.Join(LoadNames(), ", "))
	}
	within("active", o.Active, 1, 1_000_000)
	within("waiting", o.Waiting, 0, 10_000_000)
	within("clients", o.Clients, 1, 10_000)
	check(o.Rate > 0 && o.Rate <= 1e6, "rate is %v; it must be above 0 and at most 1000000", o.Rate)
	check(o.Duration > 0, "duration is %s; it must be more than 0", o.Duration)
	return errors.Join(errs...)
}

func isRedis(scheme string) bool    { return scheme == "redis" || scheme == "rediss" }
func isPostgres(scheme string) bool { return scheme == "postgres" || scheme == "postgresql" }
