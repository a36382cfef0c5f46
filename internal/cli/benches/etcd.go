package benches

import (
	"context"
	"fmt"
	"io"
	"os"

	benchetcd "fiveways.dev/fiveways/internal/bench/etcd"

	"github.com/spf13/cobra"
)

func benchEtcdCommand() *cobra.Command {
	o := benchetcd.DefaultOptions()
	t := target{key: "etcd"}
	cmd := &cobra.Command{
		Use:   "etcd [HOST:PORT]",
		Short: "load queues and keys over etcd's API and measure rates and latency",
		Long: `Loads a server with etcd's API, through etcd's own client for Go: Fiveways, or a real etcd.

The loads run one after the other: queue (producers put messages, consumers watch and delete each), put, range-1, range-100, range-10000, limit-100 and count (of
keys put before), watch (producers put one key, consumers watch it). If the server has no queues, or with --plain, the queue consists of plain keys:
each message is put where a consumer watches. Everything that a run has created is removed at its end.

A producer puts the next message when the last one is answered, so producers wait for the server. Deletes must not be the bottleneck: with fewer in flight than
a consumer needs to keep up with the producers a backlog grows, on any server, and the latency is the time in the backlog.`,
		Example: `  fiveways bench etcd
  fiveways bench etcd --producers 1
  fiveways bench etcd --consumers 1000 --in-flight 1
  fiveways bench etcd --load range-100,count --keys 1000000
  fiveways bench etcd otherhost:2379 --json > result.json`,
		Args: cobra.MaximumNArgs(1),
	}
	f := t.flags(cmd, &o.Common, benchetcd.LoadNames())
	f.StringVar(&o.User, "user", o.User, "user, where the server asks for one; its password is in "+benchPassword)
	f.IntVar(&o.Producers, "producers", o.Producers, "goroutines that put")
	f.IntVar(&o.Consumers, "consumers", o.Consumers, "watches")
	f.IntVar(&o.InFlight, "in-flight", o.InFlight, "deletes of a consumer that may be unanswered at a time")
	f.IntVar(&o.Connections, "connections", o.Connections, "connections of the producers, and as many of the consumers")
	f.IntVar(&o.Size, "size", o.Size, "bytes of a value")
	f.IntVar(&o.Keys, "keys", o.Keys, "keys that the loads of ranges find")
	f.IntVar(&o.Clients, "clients", o.Clients, "goroutines that read")
	f.BoolVar(&o.Plain, "plain", o.Plain, "use plain keys though the server has queues")
	f.IntVar(&o.PID, "pid", o.PID, "process of the server, whose CPU and memory are measured (Linux)")
	return t.run(cmd, &o.Common, func(ctx context.Context, progress io.Writer) (result, error) {
		o.Password = os.Getenv(benchPassword)
		r, err := benchetcd.Run(ctx, o, func(l benchetcd.Load) {
			fmt.Fprintf(progress, "%-12s %9.0f /s\n", l.Name, l.PerSecond)
		})
		return &r, err
	})
}

// benchPassword is the variable with the password of the user of `bench etcd`.
const benchPassword = "FIVEWAYS_BENCH_PASSWORD"
