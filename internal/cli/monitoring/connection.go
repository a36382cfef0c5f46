package monitoring

import (
	"net/http"

	"fiveways.dev/fiveways/internal/cli/brokerapi"
	"fiveways.dev/fiveways/internal/cli/display"
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
			Columns: "name,protocol,user,vhost,state,channels,ssl", Path: func(_ []string, vhost string) string {
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
	return listing.Group("channel", "list and show channels of AMQP", "", `  fiveways channel list --sort messages_unacknowledged --reverse
  fiveways channel show '127.0.0.1:4000 -> 127.0.0.1:5672 (1)'`,
		listing.List(listing.Spec{
			Command: cobra.Command{Use: "list", Short: "list the channels", Example: "  fiveways channel list --sort messages_unacknowledged --reverse", Args: cobra.NoArgs},
			Columns: "name,user,vhost,state,prefetch_count,messages_unacknowledged,messages_unconfirmed,consumer_count",
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
			Columns: "queue.vhost,queue.name,consumer_tag,channel_details.name,ack_required,prefetch_count,active", Match: "queue.name", InVHost: true, Path: listing.InVHost("consumers"),
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
			Columns: "name,running,mem_used,mem_alarm,disk_free,disk_free_alarm,fd_used,uptime", Path: func([]string, string) string { return brokerapi.Path("nodes") },
		}))
}

// OverviewCommand returns `fiveways overview`.
func OverviewCommand() *cobra.Command {
	var output string
	cmd := brokerapi.RunningCommand(&cobra.Command{
		Use: "overview", Short: "show totals: objects, messages, rates", Args: cobra.NoArgs,
		Example: "  fiveways overview\n  fiveways overview -o json",
	}, func(cmd *cobra.Command, op *brokerapi.Client, _ []string) error {
		var o display.Object
		if err := op.Read(cmd.Context(), brokerapi.Path("overview"), &o); err != nil {
			return err
		}
		if output == display.FormTable {
			for name := range o { // the figures are for people, the lists for programs
				if _, list := o[name].([]any); list {
					delete(o, name)
				}
			}
		}
		return display.PrintObject(cmd.OutOrStdout(), output, o)
	})
	display.Flag(cmd, &output)
	return cmd
}
