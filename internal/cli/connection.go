package cli

import (
	"net/http"

	"github.com/spf13/cobra"
)

func connectionCommand() *cobra.Command {
	return group("connection", "list, show and close connections of all protocols", "", `  fiveways connection list --sort connected_at
  fiveways connection close '127.0.0.1:4000 -> 127.0.0.1:5672' --reason "maintenance"
  fiveways connection close --user alice`,
		list(listing{
			command: cobra.Command{Use: "list", Short: "list the connections", Args: cobra.NoArgs},
			columns: "name,protocol,user,vhost,state,channels,ssl", path: func(_ []string, vhost string) string {
				if vhost != "" {
					return path("vhosts", vhost, "connections")
				}
				return path("connections")
			}, inVHost: true,
		}),
		show(&cobra.Command{Use: "show NAME", Short: "show all that is known of a connection", Args: cobra.ExactArgs(1)},
			func(args []string) string { return path("connections", args[0]) }),
		connectionClose())
}

func connectionClose() *cobra.Command {
	var user, reason string
	cmd := operateRunning(&cobra.Command{Use: "close [NAME]", Short: "close a connection, or all of a user", Args: cobra.MaximumNArgs(1)},
		func(cmd *cobra.Command, op *operator, args []string) error {
			if (len(args) == 0) == (user == "") {
				return usage("name a connection, or a user with --user")
			}
			at := path("connections", "username", user)
			if user == "" {
				at = path("connections", args[0])
			}
			w, err := op.sendWith(cmd.Context(), http.MethodDelete, at, nil, http.Header{"X-Reason": {reason}})
			if err != nil {
				return err
			}
			return w.Body.Close()
		})
	cmd.Flags().StringVar(&user, "user", "", "all connections of this user")
	cmd.Flags().StringVar(&reason, "reason", "closed by an operator", "what the client is told")
	return cmd
}

func channelCommand() *cobra.Command {
	return group("channel", "list and show channels of AMQP", "", `  fiveways channel list --sort messages_unacknowledged --reverse
  fiveways channel show '127.0.0.1:4000 -> 127.0.0.1:5672 (1)'`,
		list(listing{
			command: cobra.Command{Use: "list", Short: "list the channels", Args: cobra.NoArgs},
			columns: "name,user,vhost,state,prefetch_count,messages_unacknowledged,messages_unconfirmed,consumer_count",
			path: func(_ []string, vhost string) string {
				if vhost != "" {
					return path("vhosts", vhost, "channels")
				}
				return path("channels")
			}, inVHost: true,
		}),
		show(&cobra.Command{Use: "show NAME", Short: "show all that is known of a channel", Args: cobra.ExactArgs(1)},
			func(args []string) string { return path("channels", args[0]) }))
}

func consumerCommand() *cobra.Command {
	return group("consumer", "list consumers", "", "  fiveways consumer list --vhost /",
		list(listing{
			command: cobra.Command{Use: "list", Short: "list the consumers", Args: cobra.NoArgs},
			columns: "queue.vhost,queue.name,consumer_tag,channel_details.name,ack_required,prefetch_count,active", match: "queue.name", inVHost: true, path: inVHost("consumers"),
		}))
}

func listenerCommand() *cobra.Command {
	return group("listener", "list the addresses that the broker serves", "", "  fiveways listener list",
		list(listing{
			command: cobra.Command{Use: "list", Short: "list the addresses, each with a command to try", Args: cobra.NoArgs},
			columns: "protocol,address,port,tls,example", path: func([]string, string) string { return path("listeners") },
		}))
}

func nodeCommand() *cobra.Command {
	return group("node", "show the node: memory, disk, alarms", "", "  fiveways node list -o json",
		list(listing{
			command: cobra.Command{Use: "list", Short: "list the node", Args: cobra.NoArgs},
			columns: "name,running,mem_used,mem_alarm,disk_free,disk_free_alarm,fd_used,uptime", path: func([]string, string) string { return path("nodes") },
		}))
}

func overviewCommand() *cobra.Command {
	var output string
	cmd := operateRunning(&cobra.Command{
		Use: "overview", Short: "show totals: objects, messages, rates", Args: cobra.NoArgs,
		Example: "  fiveways overview\n  fiveways overview -o json",
	}, func(cmd *cobra.Command, op *operator, _ []string) error {
		var o object
		if err := op.read(cmd.Context(), path("overview"), &o); err != nil {
			return err
		}
		if output == outputTable {
			for name := range o { // the figures are for people, the lists for programs
				if _, list := o[name].([]any); list {
					delete(o, name)
				}
			}
		}
		return printObject(cmd.OutOrStdout(), output, o)
	})
	outputFlag(cmd, &output)
	return cmd
}
