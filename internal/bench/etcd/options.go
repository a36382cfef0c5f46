package etcd

import (
	"errors"
	"time"

	"fiveways.dev/fiveways/internal/bench/option"
)

// Options say what load Run puts on a server. DefaultOptions is a valid start; the zero value is
// not.
type Options struct {
	option.Common // URL is host:port; Loads are of LoadNames

	User        string `json:"user"`        // "": none
	Password    string `json:"-"`           // of the user
	Producers   int    `json:"producers"`   // goroutines that put, each waiting for its answer
	Consumers   int    `json:"consumers"`   // watches of the queue, or of the key in the load watch
	InFlight    int    `json:"in_flight"`   // deletes that a consumer waits for at a time
	Connections int    `json:"connections"` // over which producers are spread, and as many for consumers
	Size        int    `json:"size"`        // bytes of a value
	Keys        int    `json:"keys"`        // that the loads of ranges find
	Clients     int    `json:"clients"`     // goroutines that read ranges
	Plain       bool   `json:"plain"`       // the queue is one of plain keys, though the server has queues
	PID         int    `json:"pid"`         // the server's process, whose CPU and memory are measured; 0: unknown
}

// DefaultOptions measures the local broker. So many deletes are in flight that a consumer keeps up
// with the producers, whatever the server: with fewer, a delete that takes longer than a put makes
// a line grow, and the latency is the time in the line, which grows with the run.
func DefaultOptions() Options {
	return Options{
		Common:    option.Common{URL: "127.0.0.1:2379", Loads: []string{"queue"}, Duration: 5 * time.Second},
		Producers: 16, Consumers: 1, InFlight: 64, Connections: 1, Size: 100, Keys: 100_000, Clients: 4,
	}
}

// ErrInvalid is wrapped by the error of every option out of its range.
var ErrInvalid = errors.New("etcd bench: invalid option")

// Validate names each option that is out of its range, as the command line spells it.
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
