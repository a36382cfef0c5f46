package semaphore

import (
	"errors"
	"net/url"
	"time"

	"fiveways.dev/fiveways/internal/bench/option"
)

// Options configures Run. Start from DefaultOptions, because the zero value is not valid.
type Options struct {
	option.Common // URL is redis://… or postgres://…; Loads are of LoadNames

	Active  int           `json:"active"`   // running tasks
	Waiting int           `json:"waiting"`  // waiting tasks at the start of each load
	Rate    float64       `json:"rate"`     // handover: releases per second
	Clients int           `json:"clients"`  // changes: connections
	Sweep   time.Duration `json:"sweep_ns"` // interval of sweeps; 0: use semaphore.*
}

// DefaultOptions returns options for the local broker over the Redis protocol.
func DefaultOptions() Options {
	return Options{
		Common: option.Common{URL: "redis://127.0.0.1:6380", Loads: LoadNames(), Duration: 10 * time.Second},
		Active: 1000, Waiting: 100_000, Rate: 10, Clients: 4,
	}
}

// ErrInvalid is wrapped by the errors for invalid options.
var ErrInvalid = errors.New("semaphore bench: invalid option")

// Validate returns an error for each invalid option, named as on the command line.
func (o Options) Validate() error {
	c := option.NewCheck(ErrInvalid)
	u, err := url.Parse(o.URL)
	c.That(err == nil && (isRedis(u.Scheme) || isPostgres(u.Scheme)), "the URL must begin with redis:// or postgres://")
	c.That(o.Sweep == 0 || err == nil && isPostgres(u.Scheme), "sweep is for a URL that begins with postgres://")
	c.That(o.Sweep >= 0, "sweep is %s; it must not be negative", o.Sweep)
	c.Common(o.Common, LoadNames())
	c.Within("active", o.Active, 1, 1_000_000)
	c.Within("waiting", o.Waiting, 0, 10_000_000)
	c.Within("clients", o.Clients, 1, 10_000)
	c.That(o.Rate > 0 && o.Rate <= 1e6, "rate is %v; it must be above 0 and at most 1000000", o.Rate)
	return c.Err()
}

func isRedis(scheme string) bool    { return scheme == "redis" || scheme == "rediss" }
func isPostgres(scheme string) bool { return scheme == "postgres" || scheme == "postgresql" }
