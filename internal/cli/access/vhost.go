package access

import (
	"net/http"
	"strings"

	"fiveways.dev/fiveways/internal/cli/brokerapi"
	"fiveways.dev/fiveways/internal/cli/display"
	"fiveways.dev/fiveways/internal/cli/exitcode"
	"fiveways.dev/fiveways/internal/cli/input"
	"fiveways.dev/fiveways/internal/cli/listing"
	"fiveways.dev/fiveways/internal/protocol/httpapi"

	"github.com/spf13/cobra"
)

// VhostCommand returns `fiveways vhost`.
func VhostCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "vhost",
		Short: "list, add, limit, trace and delete virtual hosts",
		Long:  "A virtual host is a namespace of exchanges and queues. Users need permissions on it.",
		Example: `  fiveways vhost add staging
  fiveways permission set alice '.*' '.*' '.*' --vhost staging
  fiveways vhost limit staging max-queues 1000`,
	}
	cmd.AddCommand(vhostList(), vhostAdd(), vhostLimit(), vhostTrace(), vhostDelete())
	return cmd
}

func vhostList() *cobra.Command {
	var output string
	cmd := listing.Watched(&cobra.Command{Use: "list", Short: "list the virtual hosts", Example: "  fiveways vhost list", Args: cobra.NoArgs}, func(cmd *cobra.Command, op *brokerapi.Client, _ []string) error {
		if output == display.FormJSON {
			return listing.PrintAny(cmd, op, brokerapi.Path("vhosts"))
		}
		var vhosts []httpapi.VHost
		if err := op.Do(cmd.Context(), http.MethodGet, brokerapi.Path("vhosts"), nil, &vhosts); err != nil {
			return err
		}
		return display.Table(cmd.OutOrStdout(), "VHOST\tTAGS\tLIMITS\tDESCRIPTION", func(row func(...any)) {
			for _, v := range vhosts {
				row(v.Name, strings.Join(v.Tags, ","), limitsText(v.Limits), v.Description)
			}
		})
	})
	display.Flag(cmd, &output)
	return cmd
}

func vhostAdd() *cobra.Command {
	var change httpapi.VHostChange
	cmd := brokerapi.Command(&cobra.Command{Use: "add NAME", Short: "add a virtual host, or change its description", Example: "  fiveways vhost add staging --description 'for tests'", Args: cobra.ExactArgs(1)},
		func(cmd *cobra.Command, op *brokerapi.Client, args []string) error {
			return op.Do(cmd.Context(), http.MethodPut, brokerapi.Path("vhosts", args[0]), change, nil)
		})
	cmd.Flags().StringVar(&change.Description, "description", "", "description for people")
	cmd.Flags().StringSliceVar((*[]string)(&change.Tags), "tags", nil, "tags for people; several with commas")
	return cmd
}

func vhostLimit() *cobra.Command {
	return brokerapi.Command(&cobra.Command{
		Use: "limit NAME max-connections|max-queues|max-publish-rate|max-publish-bytes-rate NUMBER|none", Short: "limit the connections, queues and publish rates of a virtual host", Example: "  fiveways vhost limit staging max-queues 1000", Args: cobra.ExactArgs(3),
	}, func(cmd *cobra.Command, op *brokerapi.Client, args []string) error {
		return setLimit(cmd, op, brokerapi.Path("vhost-limits", args[0], args[1]), args[2])
	})
}

func vhostTrace() *cobra.Command {
	return brokerapi.RunningCommand(&cobra.Command{
		Use: "trace NAME on|off", Short: "copy every message published and delivered in a virtual host to its exchange amq.rabbitmq.trace",
		Long: "While it is on, queues bound to amq.rabbitmq.trace get each message with the routing key\n" +
			"publish.EXCHANGE or deliver.QUEUE. It is off when the broker starts, and costs throughput while it is on.",
		Example: "  fiveways vhost trace staging on", Args: cobra.ExactArgs(2),
	}, func(cmd *cobra.Command, op *brokerapi.Client, args []string) error {
		on := httpapi.Tracing(args[1] == "on")
		if !on && args[1] != "off" {
			return exitcode.Usage("trace is on or off, not %q", args[1])
		}
		at := brokerapi.Path("vhosts", args[0])
		var have httpapi.VHost
		if err := op.Do(cmd.Context(), http.MethodGet, at, nil, &have); err != nil {
			return err
		}
		change := httpapi.VHostChange{ // members that it omits would be cleared
			Description: have.Description, Tags: have.Tags, DefaultQueueType: have.Metadata.QueueType, Tracing: &on,
		}
		return op.Do(cmd.Context(), http.MethodPut, at, change, nil)
	})
}

func vhostDelete() *cobra.Command {
	var consent input.Consent
	return consent.Flag(brokerapi.Command(&cobra.Command{
		Use: "delete NAME", Short: "delete a virtual host with its queues and all messages in them", Example: "  fiveways vhost delete staging --yes", Args: cobra.ExactArgs(1),
	}, func(cmd *cobra.Command, op *brokerapi.Client, args []string) error {
		if err := consent.Ask(cmd, "Delete virtual host '%s' with its queues, exchanges and all messages in them?", args[0]); err != nil {
			return err
		}
		return op.Do(cmd.Context(), http.MethodDelete, brokerapi.Path("vhosts", args[0]), nil, nil)
	}))
}
