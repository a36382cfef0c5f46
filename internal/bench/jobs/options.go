package jobs

import (
	"errors"
	"net/url"
	"time"

	"fiveways.dev/fiveways/internal/bench/option"
)

// Options configures Run. Start from DefaultOptions, because the zero value is not valid.
type Options struct {
	option.Common // URL is redis://user:password@host:port/database; Loads are of LoadNames

	Against     string `json:"against"`     // another server, measured alternately; "" means none
	Connections []int  `json:"connections"` // each load runs with each number of connections
	Depths      []int  `json:"depths"`      // and with each number of jobs in flight per connection
	Size        int    `json:"size"`        // bytes of a body
	Backlog     int    `json:"backlog"`     // jobs enqueued before the loads that only take
	Repetitions int    `json:"repetitions"` // the result is the median
}

// DefaultOptions returns options for the local broker.
func DefaultOptions() Options {
	return Options{
		Common:      option.Common{URL: "redis://127.0.0.1:6380", Loads: LoadNames(), Duration: 3 * time.Second},
		Connections: []int{1, 4, 16}, Depths: []int{1, 64}, Size: 100, Backlog: 100_000, Repetitions: 3,
	}
}

// ErrInvalid is wrapped by the errors for invalid options.
var ErrInvalid = errors.New("jobs bench: invalid option")

// Validate returns an error for each invalid option, named as on the command line.
func (o Options) Validate() error {
	c := option.NewCheck(ErrInvalid)
	for _, address := range []string{o.URL, o.Against} {
		if u, err := url.Parse(address); address != o.Against || address != "" {
			c.That(err == nil && u.Scheme == "redis" && u.Host != "", "%q is no URL such as redis://user:password@host:6380", address)
		}
	}
	c.Common(o.Common, LoadNames())
	c.That(len(o.Connections) > 0, "no number of connections is given")
	for _, n := range o.Connections {
		c.Within("connections", n, 1, 10_000)
	}
	c.That(len(o.Depths) > 0, "no depth is given")
	for _, n := range o.Depths {
		c.Within("depth", n, 1, 1000)
	}
	c.Within("size", o.Size, 0, 16<<20)
	c.Within("backlog", o.Backlog, 1, 100_000_000)
	c.Within("repetitions", o.Repetitions, 1, 1000)
	return c.Err()
}
