package access

import (
	"net/http"
	"slices"

	"fiveways.dev/fiveways/internal/cli/brokerapi"
	"fiveways.dev/fiveways/internal/cli/display"
	"fiveways.dev/fiveways/internal/cli/listing"
	"fiveways.dev/fiveways/internal/protocol/httpapi"

	"github.com/spf13/cobra"
)

// PermissionCommand returns `fiveways permission`.
func PermissionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "permission",
		Short: "list, set and clear permissions",
		Long: `A permission of a user on a virtual host is three regular expressions over names of queues and exchanges: what the user
may configure (declare, delete), write to (publish, bind to) and read from (consume, get, purge, bind from). They match
anywhere in the name unless anchored with ^ and $; an empty one matches nothing.`,
		Example: `  fiveways permission set alice '^alice\.' '.*' '^alice\.'
  fiveways permission topic alice amq.topic '^{username}\.' '.*'
  fiveways permission list --user alice`,
	}
	cmd.AddCommand(permissionList(), permissionSet(), permissionClear(), permissionTopic(), permissionClearTopic())
	return cmd
}

func permissionList() *cobra.Command {
	var user, vhost, output string
	cmd := listing.Watched(&cobra.Command{Use: "list", Short: "list permissions and topic permissions", Example: "  fiveways permission list --user alice", Args: cobra.NoArgs},
		func(cmd *cobra.Command, op *brokerapi.Client, _ []string) error {
			var plain []httpapi.Permission
			if err := op.Do(cmd.Context(), http.MethodGet, brokerapi.Path("permissions"), nil, &plain); err != nil {
				return err
			}
			var topics []httpapi.TopicPermission
			if err := op.Do(cmd.Context(), http.MethodGet, brokerapi.Path("topic-permissions"), nil, &topics); err != nil {
				return err
			}
			wanted := func(u, v string) bool { return (user == "" || u == user) && (vhost == "" || v == vhost) }
			plain = slices.DeleteFunc(plain, func(p httpapi.Permission) bool { return !wanted(p.User, p.VHost) })
			topics = slices.DeleteFunc(topics, func(p httpapi.TopicPermission) bool { return !wanted(p.User, p.VHost) })
			if output == display.FormJSON {
				return display.PrintJSON(cmd.OutOrStdout(), map[string]any{"permissions": plain, "topic_permissions": topics})
			}
			return display.Table(cmd.OutOrStdout(), "USER\tVHOST\tTOPICS OF\tCONFIGURE\tWRITE\tREAD", func(row func(...any)) {
				for _, p := range plain {
					row(p.User, p.VHost, "", p.Configure, p.Write, p.Read)
				}
				for _, p := range topics {
					row(p.User, p.VHost, p.Exchange, "", p.Write, p.Read)
				}
			})
		})
	display.Flag(cmd, &output)
	cmd.Flags().StringVar(&user, "user", "", "only those of this user")
	cmd.Flags().StringVar(&vhost, "vhost", "", "only on this virtual host")
	return cmd
}

func permissionSet() *cobra.Command {
	var vhost string
	return listing.OnVHost(brokerapi.Command(&cobra.Command{Use: "set USER CONFIGURE WRITE READ", Short: "set a user's permissions on a virtual host", Example: "  fiveways permission set alice '^alice\\.' '.*' '^alice\\.'", Args: cobra.ExactArgs(4)},
		func(cmd *cobra.Command, op *brokerapi.Client, args []string) error {
			p := httpapi.Permission{Configure: args[1], Write: args[2], Read: args[3]}
			return op.Do(cmd.Context(), http.MethodPut, brokerapi.Path("permissions", vhost, args[0]), p, nil)
		}), &vhost)
}

func permissionClear() *cobra.Command {
	var vhost string
	return listing.OnVHost(brokerapi.Command(&cobra.Command{Use: "clear USER", Short: "clear a user's permissions on a virtual host", Example: "  fiveways permission clear alice --vhost staging", Args: cobra.ExactArgs(1)},
		func(cmd *cobra.Command, op *brokerapi.Client, args []string) error {
			return op.Do(cmd.Context(), http.MethodDelete, brokerapi.Path("permissions", vhost, args[0]), nil, nil)
		}), &vhost)
}

func permissionTopic() *cobra.Command {
	var vhost string
	return listing.OnVHost(brokerapi.Command(&cobra.Command{
		Use: "topic USER EXCHANGE WRITE READ", Short: "limit the routing keys a user may use with a topic exchange", Example: "  fiveways permission topic alice amq.topic '^{username}\\.' '.*'", Args: cobra.ExactArgs(4),
		Long: "The patterns are matched against routing keys; {username} and {vhost} in them are replaced by the user's own.",
	}, func(cmd *cobra.Command, op *brokerapi.Client, args []string) error {
		p := httpapi.TopicPermission{Exchange: args[1], Write: args[2], Read: args[3]}
		return op.Do(cmd.Context(), http.MethodPut, brokerapi.Path("topic-permissions", vhost, args[0]), p, nil)
	}), &vhost)
}

func permissionClearTopic() *cobra.Command {
	var vhost string
	return listing.OnVHost(brokerapi.Command(&cobra.Command{Use: "clear-topic USER [EXCHANGE]", Short: "clear topic permissions", Example: "  fiveways permission clear-topic alice amq.topic", Args: cobra.RangeArgs(1, 2)},
		func(cmd *cobra.Command, op *brokerapi.Client, args []string) error {
			at := append([]string{"topic-permissions", vhost}, args...)
			return op.Do(cmd.Context(), http.MethodDelete, brokerapi.Path(at...), nil, nil)
		}), &vhost)
}
