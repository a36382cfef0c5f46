package benches

import (
	"context"
	"fmt"
	"io"
	"time"

	"fiveways.dev/fiveways/internal/bench/amqp"

	"github.com/spf13/cobra"
)

func benchAMQPCommand() *cobra.Command {
	o := amqp.DefaultOptions()
	t := target{key: "amqp", before: "amqp://guest:guest@", behind: "/"}
	cmd := &cobra.Command{
		Use:   "amqp",
		Short: "load any AMQP 0-9-1 broker and measure throughput and latency",
		Long: `Loads an AMQP 0-9-1 broker, Fiveways or another, and prints throughput and latency percentiles.

Without --rate publishers go as fast as the broker takes messages; latency then is mostly time spent in queues.
With --rate messages are due by the clock and latency counts from the time a message was due, so that a stall of the
broker shows. End-to-end latency needs bodies of at least 16 bytes.

Without --queue the run has queues of its own, deleted at the end. A queue named by --queue is declared as --persist
says (durable or not), is neither purged nor deleted, and what was delivered but not acknowledged goes back to it.`,
		Example: `  fiveways bench amqp                                            as fast as it goes, transient messages
  fiveways bench amqp --persist --confirm 2000                   durable, 2000 confirms in flight
  fiveways bench amqp --persist --confirm 100 --rate 2000        latency at 2000 messages a second
  fiveways bench amqp --no-ack --size 16 --publishers 2 --consumers 2 --queues 2
  fiveways bench amqp --consumers 0 --count 1000000 --persist --confirm 2000 --queue backlog --duration 10m
  fiveways bench amqp --url amqp://user:secret@broker:5672/vhost --json > result.json`,
		Args: cobra.NoArgs,
	}
	cmd.Flags().StringVar(&t.named, "url", "", "amqp://user:password@host:port/vhost (default: the broker on the data folder, else as the configuration says)")
	f := t.flags(cmd, &o.Common, nil)
	f.IntVar(&o.Publishers, "publishers", o.Publishers, "publishing connections")
	f.IntVar(&o.Consumers, "consumers", o.Consumers, "consuming connections")
	f.StringVar(&o.Queue, "queue", o.Queue, "queue to use, or prefix of their names; default: queues of this run")
	f.IntVar(&o.Queues, "queues", o.Queues, "queues over which publishers and consumers are spread")
	f.IntVar(&o.Size, "size", o.Size, "bytes of a message body")
	f.BoolVar(&o.Persist, "persist", o.Persist, "persistent messages in durable queues")
	f.IntVar(&o.Confirm, "confirm", o.Confirm, "publisher confirms in flight per publisher; 0 = without confirms")
	f.BoolVar(&o.NoAck, "no-ack", o.NoAck, "consume without acknowledging")
	f.IntVar(&o.AckEvery, "ack", o.AckEvery, "number of deliveries to acknowledge with one multiple ack")
	f.IntVar(&o.Prefetch, "prefetch", o.Prefetch, "deliveries in flight per consumer; 0 = no limit")
	f.Float64Var(&o.Rate, "rate", o.Rate, "messages per second of all publishers together; 0 = as fast as possible")
	f.IntVar(&o.Batch, "batch", o.Batch, "messages per write, at most")
	f.Uint64Var(&o.Count, "count", o.Count, "end the run once this many messages were published, confirmed and received")
	f.IntVar(&o.PID, "pid", o.PID, "process whose CPU and memory are measured (Linux)")
	return t.run(cmd, &o.Common, func(ctx context.Context, progress io.Writer) (result, error) {
		var last amqp.Progress
		r, err := amqp.Run(ctx, o, func(p amqp.Progress) {
			perSecond := func(now, before uint64) float64 { return float64(now-before) / (p.Elapsed - last.Elapsed).Seconds() }
			fmt.Fprintf(progress, "%4.0fs  published %9.0f/s  confirmed %9.0f/s  received %9.0f/s\n", p.Elapsed.Round(time.Second).Seconds(),
				perSecond(p.Sent, last.Sent), perSecond(p.Confirmed, last.Confirmed), perSecond(p.Received, last.Received))
			last = p
		})
		return &r, err
	})
}
