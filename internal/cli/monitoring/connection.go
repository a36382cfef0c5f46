package monitoring

import (
	"net/http"

	"fiveways.dev/fiveways/internal/cli/brokerapi"
	"fiveways.dev/fiveways/internal/cli/exitcode"
	"fiveways.dev/fiveways/internal/cli/listing"

	"github.com/spf13/cobra"
)

// ConnectionCommand returns `fiveways connection`.
func ConnectionCommand() *cobra.Command {
	return listing.Group("connection", "list, show and close connections of all protocols", "", `  fiveways connection list --sort connected_at
  fiveways connection close '127.0.0.1:4000 -> 127.0.0.1:5672' --reason "maintenance"
  fiveways connection close --user alice`,
		listing.List(listing.Spec{
			Command: cobra.Command{Use: "list", Short: "list the connections", Example: "  fiveways connection list --sort connected_at", Args: cobra.NoArgs},
			Columns: "name,protocol,user,vhost,state,channels,in,out,tls", Names: map[string]string{"in": "recv_oct_details.rate", "out": "send_oct_details.rate", "tls": "ssl"}, Path: func(_ []string, vhost string) string {
				if vhost != "" {
					return brokerapi.Path("vhosts", vhost, "connections")
				}
				return brokerapi.Path("connections")
			}, InVHost: true,
		}),
		listing.Show(&cobra.Command{Use: "show NAME", Short: "show the details of a connection", Example: "  fiveways connection show '127.0.0.1:4000 -> 127.0.0.1:5672'", Args: cobra.ExactArgs(1)},
			func(args []string) string { return brokerapi.Path("connections", args[0]) }),
		connectionClose())
}

func connectionClose() *cobra.Command {
	var user, reason string
	cmd := brokerapi.RunningCommand(&cobra.Command{Use: "close [NAME]", Short: "close a connection, or all connections of a user", Example: "  fiveways connection close --user alice --reason maintenance", Args: cobra.MaximumNArgs(1)},
		func(cmd *cobra.Command, op *brokerapi.Client, args []string) error {
			if (len(args) == 0) == (user == "") {
				return exitcode.Usage("name a connection, or a user with --user")
			}
			at := brokerapi.Path("connections", "username", user)
			if user == "" {
				at = brokerapi.Path("connections", args[0])
			}
			w, err := op.SendWith(cmd.Context(), http.MethodDelete, at, nil, http.Header{"X-Reason": {reason}})
			if err != nil {
				return err
			}
			return w.Body.Close()
		})
	cmd.Flags().StringVar(&user, "user", "", "all connections of this user")
	cmd.Flags().StringVar(&reason, "reason", "closed by an operator", "the reason sent to the client")
	return cmd
}

// ChannelCommand returns `fiveways channel`.
func ChannelCommand() *cobra.Command {
	return listing.Group("channel", "list and show channels of AMQP", "", `  fiveways channel list --sort unacked --reverse
  fiveways channel show '127.0.0.1:4000 -> 127.0.0.1:5672 (1)'`,
		listing.List(listing.Spec{
			Command: cobra.Command{Use: "list", Short: "list the channels", Example: "  fiveways channel list --sort unacked --reverse", Args: cobra.NoArgs},
			Columns: "name,user,vhost,state,prefetch,unacked,unconfirmed,consumers", Names: map[string]string{
				"prefetch": "prefetch_count", "unacked": "messages_unacknowledged", "unconfirmed": "messages_unconfirmed", "consumers": "consumer_count",
			},
			Path: func(_ []string, vhost string) string {
				if vhost != "" {
					return brokerapi.Path("vhosts", vhost, "channels")
				}
				return brokerapi.Path("channels")
			}, InVHost: true,
		}),
		listing.Show(&cobra.Command{Use: "show NAME", Short: "show the details of a channel", Example: "  fiveways channel show '127.0.0.1:4000 -> 127.0.0.1:5672 (1)'", Args: cobra.ExactArgs(1)},
			func(args []string) string { return brokerapi.Path("channels", args[0]) }))
}

// ConsumerCommand returns `fiveways consumer`.
func ConsumerCommand() *cobra.Command {
	return listing.Group("consumer", "list consumers", "", "  fiveways consumer list --vhost /",
		listing.List(listing.Spec{
			Command: cobra.Command{Use: "list", Short: "list the consumers", Example: "  fiveways consumer list --match '^orders'", Args: cobra.NoArgs},
			Columns: "vhost,queue,tag,channel,ack_required,prefetch,active", Names: map[string]string{
				"vhost": "queue.vhost", "queue": "queue.name", "tag": "consumer_tag", "channel": "channel_details.name", "prefetch": "prefetch_count",
			},
			Match: "queue.name", InVHost: true, Path: listing.InVHost("consumers"),
		}))
}

// ListenerCommand returns `fiveways listener`.
func ListenerCommand() *cobra.Command {
	return listing.Group("listener", "list the addresses that the broker serves", "", "  fiveways listener list",
		listing.List(listing.Spec{
			Command: cobra.Command{Use: "list", Short: "list the addresses, each with a command to try", Example: "  fiveways listener list --columns protocol,example", Args: cobra.NoArgs},
			Columns: "protocol,address,port,tls,example", Path: func([]string, string) string { return brokerapi.Path("listeners") },
		}))
}

// NodeCommand returns `fiveways node`.
func NodeCommand() *cobra.Command {
	return listing.Group("node", "show the node: memory, disk, alarms", "", "  fiveways node list -o json",
		listing.List(listing.Spec{
			Command: cobra.Command{Use: "list", Short: "list the node", Example: "  fiveways node list -o json", Args: cobra.NoArgs},
			Columns: "name,running,memory,mem_alarm,disk_free,disk_free_alarm,files,uptime", Names: map[string]string{"memory": "mem_used", "files": "fd_used"}, Path: func([]string, string) string { return brokerapi.Path("nodes") },
		}))
}
