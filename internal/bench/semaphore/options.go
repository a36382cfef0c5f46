package semaphore

import (
	"errors"
	"net/url"
	"time"

	"fiveways.dev/fiveways/internal/bench/option"
)

// Options say what load Run puts on which server. DefaultOptions is a valid start; the zero value
// is not.
type Options struct {
	option.Common // URL is redis://… or postgres://…; Loads are of LoadNames

	Active  int           `json:"active"`   // tasks that run
	Waiting int           `json:"waiting"`  // tasks that wait at the start of each load
	Rate    float64       `json:"rate"`     // handover: releases a second
	Clients int           `json:"clients"`  // changes: connections
	Sweep   time.Duration `json:"sweep_ns"` // of tables in a PostgreSQL that a sweep goes over; 0: the functions semaphore.* decide
}

// DefaultOptions measures the local broker over the Redis protocol.
func DefaultOptions() Options {
	return Options{
		Common: option.Common{URL: "redis://127.0.0.1:6380", Loads: LoadNames(), Duration: 10 * time.Second},
		Active: 1000, Waiting: 100_000, Rate: 10, Clients: 4,
	}
}

// ErrInvalid is wrapped by the error of every option out of its range.
var ErrInvalid = errors.New("semaphore bench: invalid option")

// Validate names each option that is out of its range, as the command line spells it.
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
