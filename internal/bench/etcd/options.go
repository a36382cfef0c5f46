package etcd

import (
	"errors"
	"time"

	"fiveways.dev/fiveways/internal/bench/option"
)

// Options configures Run. Start from DefaultOptions, because the zero value is not valid.
type Options struct {
	option.Common // URL is host:port; Loads are of LoadNames

	User        string `json:"user"`        // "" means none
	Password    string `json:"-"`           // of the user
	Producers   int    `json:"producers"`   // goroutines that put, each with one request at a time
	Consumers   int    `json:"consumers"`   // watches of the queue, or of the key in the watch load
	InFlight    int    `json:"in_flight"`   // concurrent deletes per consumer
	Connections int    `json:"connections"` // shared by the producers, and as many by the consumers
	Size        int    `json:"size"`        // bytes of a value
	Keys        int    `json:"keys"`        // keys for the range loads
	Clients     int    `json:"clients"`     // goroutines that read ranges
	Plain       bool   `json:"plain"`       // plain keys as the queue, even if the server has queues
	PID         int    `json:"pid"`         // server process, for its CPU and memory; 0: unknown
}

// DefaultOptions returns options for the local broker. With this many deletes in flight a consumer
// keeps up with the producers on any server. With fewer, if a delete takes longer than a put, a
// backlog builds up, and the latency is dominated by the wait in it, which grows with the run.
func DefaultOptions() Options {
	return Options{
		Common:    option.Common{URL: "127.0.0.1:2379", Loads: []string{"queue"}, Duration: 5 * time.Second},
		Producers: 16, Consumers: 1, InFlight: 64, Connections: 1, Size: 100, Keys: 100_000, Clients: 4,
	}
}

// ErrInvalid is wrapped by the errors for invalid options.
var ErrInvalid = errors.New("etcd bench: invalid option")

// Validate returns an error for each invalid option, named as on the command line.
func (o Options) Validate() error {
	c := option.NewCheck(ErrInvalid)
	c.That(o.URL != "", "url is empty; it must be host:port")
	c.Common(o.Common, LoadNames())
	c.Within("producers", o.Producers, 1, 100_000)
	c.Within("consumers", o.Consumers, 1, 100_000)
	c.Within("in-flight", o.InFlight, 1, 10_000)
	c.Within("connections", o.Connections, 1, 10_000)
	c.Within("size", o.Size, stampBytes, 1<<20)
	c.Within("keys", o.Keys, 1, 100_000_000)
	c.Within("clients", o.Clients, 1, 10_000)
	return c.Err()
}
