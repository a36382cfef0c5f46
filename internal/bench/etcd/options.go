package etcd

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Options say what load Run puts on a server. DefaultOptions is a valid start; the zero value is not.
type Options struct {
	URL         string        `json:"url"`         // host:port
	User        string        `json:"user"`        // "": none
	Password    string        `json:"-"`           // of the user
	Loads       []string      `json:"loads"`       // of LoadNames
	Producers   int           `json:"producers"`   // goroutines that put, each waiting for its answer
	Consumers   int           `json:"consumers"`   // watches of the queue, or of the key in the load watch
	InFlight    int           `json:"in_flight"`   // deletes that a consumer waits for at a time
	Connections int           `json:"connections"` // over which producers are spread, and as many for consumers
	Size        int           `json:"size"`        // bytes of a value
	Keys        int           `json:"keys"`        // that the loads of ranges find
	Clients     int           `json:"clients"`     // goroutines that read ranges
	Plain       bool          `json:"plain"`       // the queue is one of plain keys, though the server has queues
	Duration    time.Duration `json:"duration_ns"` // end of each load
	PID         int           `json:"pid"`         // the server's process, whose CPU and memory are measured; 0: unknown
}

// DefaultOptions measures the local broker. So many deletes are in flight that a consumer keeps up with the producers, whatever the server: with fewer, a delete
// that takes longer than a put makes a line grow, and the latency is the time in the line, which grows with the run.
func DefaultOptions() Options {
	return Options{
		URL: "127.0.0.1:2379", Loads: []string{"queue"}, Producers: 16, Consumers: 1, InFlight: 64, Connections: 1, Size: 100, Keys: 100_000, Clients: 4,
		Duration: 5 * time.Second,
	}
}

// ErrInvalid is wrapped by the error of every option out of its range.
var ErrInvalid = errors.New("etcd bench: invalid option")

// Validate names each option that is out of its range, as the command line spells it.
func (o Options) Validate() error {
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf("%w: "+format, append([]any{ErrInvalid}, args...)...))
		}
	}
	check(o.URL != "", "url is empty; it must be host:port")
	check(len(o.Loads) > 0, "no load is named; there are %s", strings.Join(LoadNames(), ", "))
	for _, name := range o.Loads {
		check(slices.Contains(LoadNames(), name), "there is no load %q; there are %s", name, strings.Join(LoadNames(), ", "))
	}
	for _, of := range []struct {
		name         string
		v, low, high int
	}{
		{"producers", o.Producers, 1, 100_000}, {"consumers", o.Consumers, 1, 100_000}, {"in-flight", o.InFlight, 1, 10_000},
		{"connections", o.Connections, 1, 10_000}, {"size", o.Size, stampBytes, 1 << 20}, {"keys", o.Keys, 1, 100_000_000}, {"clients", o.Clients, 1, 10_000},
	} {
		check(of.v >= of.low && of.v <= of.high, "%s is %d; it must be from %d to %d", of.name, of.v, of.low, of.high)
	}
	check(o.Duration > 0, "duration is %s; it must be more than 0", o.Duration)
	return errors.Join(errs...)
}
