package amqp

import (
	"errors"
	"math"
	"time"

	"fiveways.dev/fiveways/internal/bench/option"
)

// Options configures Run. Start from DefaultOptions, because the zero value is not valid.
type Options struct {
	option.Common // URL is amqp://user:password@host:port/vhost; Loads is not used

	Publishers int    `json:"publishers"` // connections that publish; 0 = only consume
	Consumers  int    `json:"consumers"`  // connections that consume; 0 = only publish
	Queue      string `json:"queue"`      // name, or prefix of names; empty = queues deleted at the end
	Queues     int    `json:"queues"`     // publisher and consumer i use queue i modulo Queues

	Size    int  `json:"size"`    // bytes of a body; end-to-end latency needs 16
	Persist bool `json:"persist"` // persistent messages, durable queues
	Confirm int  `json:"confirm"` // confirms in flight per publisher; 0 = no confirms

	NoAck    bool `json:"no_ack"`    // consume without acknowledging
	AckEvery int  `json:"ack_every"` // deliveries acknowledged by one multiple ack
	Prefetch int  `json:"prefetch"`  // deliveries in flight per consumer; 0 = no limit

	Rate  float64 `json:"rate"`  // messages per second in total, open loop; 0 = no limit
	Batch int     `json:"batch"` // maximum number of messages per write()
	Count uint64  `json:"count"` // messages after which the run ends; 0 = no limit
	PID   int     `json:"pid"`   // process whose CPU and memory are measured; 0 = none
}

// DefaultOptions returns options for a run of ten seconds with one publisher and one consumer on
// the local broker.
func DefaultOptions() Options {
	return Options{
		Common:     option.Common{URL: "amqp://guest:guest@127.0.0.1:5672/", Duration: 10 * time.Second},
		Publishers: 1, Consumers: 1, Queues: 1, Size: 100, AckEvery: 100, Prefetch: 1000, Batch: 64,
	}
}

// ErrInvalid is wrapped by the errors for invalid options.
var ErrInvalid = errors.New("amqp bench: invalid option")

// Validate returns an error for each invalid option, named as on the command line.
func (o Options) Validate() error {
	c := option.NewCheck(ErrInvalid)
	_, err := parseURL(o.URL)
	c.NoError(err)
	c.Within("publishers", o.Publishers, 0, 100_000)
	c.Within("consumers", o.Consumers, 0, 100_000)
	c.That(o.Publishers+o.Consumers > 0, "publishers and consumers are both 0; there is nothing to do")
	c.That(o.Publishers > 0 || o.Queue != "", "with 0 publishers, queue must name a queue that holds messages")
	c.Within("queues", o.Queues, 1, 1_000_000)
	c.That(len(o.Queue) <= 200, "queue has %d bytes; at most 200 leave room for a number", len(o.Queue))
	c.Within("size", o.Size, 0, 512<<20)
	c.Within("confirm", o.Confirm, 0, 10_000_000)
	c.Within("prefetch", o.Prefetch, 0, 65535)
	c.Within("ack", o.AckEvery, 1, math.MaxInt32)
	c.That(o.NoAck || o.Prefetch == 0 || o.AckEvery <= o.Prefetch,
		"ack is %d and prefetch %d; the broker would stop before the first ack", o.AckEvery, o.Prefetch)
	c.That(o.Rate >= 0 && o.Rate <= 1e9, "rate is %v; it must be from 0 (no limit) to 1e9 per second", o.Rate)
	c.Within("batch", o.Batch, 1, 100_000)
	c.Common(o.Common, nil)
	c.That(o.PID >= 0, "pid is %d", o.PID)
	return c.Err()
}
