package cli

import (
	"net/http"
	"strings"

	"fiveways/internal/protocol/httpapi"

	"github.com/spf13/cobra"
)

func vhostCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "vhost",
		Short: "list, add, limit and delete virtual hosts",
		Long:  "A virtual host is a name space of exchanges and queues. Users need a permission on it.",
		Example: `  fiveways vhost add staging
  fiveways permission set alice '.*' '.*' '.*' --vhost staging
  fiveways vhost limit staging max-queues 1000`,
	}
	cmd.AddCommand(vhostList(), vhostAdd(), vhostLimit(), vhostDelete())
	return cmd
}

func vhostList() *cobra.Command {
	var output string
	cmd := operate(&cobra.Command{Use: "list", Short: "list the virtual hosts", Args: cobra.NoArgs}, func(cmd *cobra.Command, op *operator, _ []string) error {
		if output == outputJSON {
			return op.printAny(cmd, path("vhosts"))
		}
		var vhosts []httpapi.VHost
		if err := op.do(cmd.Context(), http.MethodGet, path("vhosts"), nil, &vhosts); err != nil {
			return err
		}
		return table(cmd.OutOrStdout(), "VHOST\tTAGS\tLIMITS\tDESCRIPTION", func(row func(...any)) {
			for _, v := range vhosts {
				row(v.Name, strings.Join(v.Tags, ","), limitsText(v.Limits), v.Description)
			}
		})
	})
	outputFlag(cmd, &output)
	return cmd
}

func vhostAdd() *cobra.Command {
	var change httpapi.VHostChange
	cmd := operate(&cobra.Command{Use: "add NAME", Short: "add a virtual host, or change its description", Args: cobra.ExactArgs(1)},
		func(cmd *cobra.Command, op *operator, args []string) error {
			return op.do(cmd.Context(), http.MethodPut, path("vhosts", args[0]), change, nil)
		})
	cmd.Flags().StringVar(&change.Description, "description", "", "for people")
	cmd.Flags().StringSliceVar((*[]string)(&change.Tags), "tags", nil, "for people; several with commas")
	return cmd
}

func vhostLimit() *cobra.Command {
	return operate(&cobra.Command{
		Use: "limit NAME max-connections|max-queues|max-publish-rate|max-publish-bytes-rate NUMBER|none", Short: "bound what a virtual host may hold, and take in a second", Args: cobra.ExactArgs(3),
	}, func(cmd *cobra.Command, op *operator, args []string) error {
		return setLimit(cmd, op, path("vhost-limits", args[0], args[1]), args[2])
	})
}

func vhostDelete() *cobra.Command {
	return operate(&cobra.Command{
		Use: "delete NAME", Short: "delete a virtual host with its queues and all messages in them", Args: cobra.ExactArgs(1),
	}, func(cmd *cobra.Command, op *operator, args []string) error {
		return op.do(cmd.Context(), http.MethodDelete, path("vhosts", args[0]), nil, nil)
	})
}
