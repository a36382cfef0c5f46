package cli

import (
	"net/http"
	"slices"

	"fiveways/internal/protocol/httpapi"

	"github.com/spf13/cobra"
)

func permissionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "permission",
		Short: "list, set and clear what users may do",
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

// onVHost adds the flag --vhost.
func onVHost(cmd *cobra.Command, vhost *string) *cobra.Command {
	cmd.Flags().StringVar(vhost, "vhost", "/", "virtual host")
	return cmd
}

func permissionList() *cobra.Command {
	var user, vhost, output string
	cmd := operate(&cobra.Command{Use: "list", Short: "list permissions and topic permissions", Args: cobra.NoArgs},
		func(cmd *cobra.Command, op *operator, _ []string) error {
			var plain []httpapi.Permission
			if err := op.do(cmd.Context(), http.MethodGet, path("permissions"), nil, &plain); err != nil {
				return err
			}
			var topics []httpapi.TopicPermission
			if err := op.do(cmd.Context(), http.MethodGet, path("topic-permissions"), nil, &topics); err != nil {
				return err
			}
			wanted := func(u, v string) bool { return (user == "" || u == user) && (vhost == "" || v == vhost) }
			plain = slices.DeleteFunc(plain, func(p httpapi.Permission) bool { return !wanted(p.User, p.VHost) })
			topics = slices.DeleteFunc(topics, func(p httpapi.TopicPermission) bool { return !wanted(p.User, p.VHost) })
			if output == outputJSON {
				return printJSON(cmd.OutOrStdout(), map[string]any{"permissions": plain, "topic_permissions": topics})
			}
			return table(cmd.OutOrStdout(), "USER\tVHOST\tTOPICS OF\tCONFIGURE\tWRITE\tREAD", func(row func(...any)) {
				for _, p := range plain {
					row(p.User, p.VHost, "", p.Configure, p.Write, p.Read)
				}
				for _, p := range topics {
					row(p.User, p.VHost, p.Exchange, "", p.Write, p.Read)
				}
			})
		})
	outputFlag(cmd, &output)
	cmd.Flags().StringVar(&user, "user", "", "only of this user")
	cmd.Flags().StringVar(&vhost, "vhost", "", "only on this virtual host")
	return cmd
}

func permissionSet() *cobra.Command {
	var vhost string
	return onVHost(operate(&cobra.Command{Use: "set USER CONFIGURE WRITE READ", Short: "say what a user may do on a virtual host", Args: cobra.ExactArgs(4)},
		func(cmd *cobra.Command, op *operator, args []string) error {
			p := httpapi.Permission{Configure: args[1], Write: args[2], Read: args[3]}
			return op.do(cmd.Context(), http.MethodPut, path("permissions", vhost, args[0]), p, nil)
		}), &vhost)
}

func permissionClear() *cobra.Command {
	var vhost string
	return onVHost(operate(&cobra.Command{Use: "clear USER", Short: "take a user's permission on a virtual host away", Args: cobra.ExactArgs(1)},
		func(cmd *cobra.Command, op *operator, args []string) error {
			return op.do(cmd.Context(), http.MethodDelete, path("permissions", vhost, args[0]), nil, nil)
		}), &vhost)
}

func permissionTopic() *cobra.Command {
	var vhost string
	return onVHost(operate(&cobra.Command{
		Use: "topic USER EXCHANGE WRITE READ", Short: "bound the routing keys a user may use with a topic exchange", Args: cobra.ExactArgs(4),
		Long: "The patterns are matched with routing keys; {username} and {vhost} in them stand for the user's own.",
	}, func(cmd *cobra.Command, op *operator, args []string) error {
		p := httpapi.TopicPermission{Exchange: args[1], Write: args[2], Read: args[3]}
		return op.do(cmd.Context(), http.MethodPut, path("topic-permissions", vhost, args[0]), p, nil)
	}), &vhost)
}

func permissionClearTopic() *cobra.Command {
	var vhost string
	return onVHost(operate(&cobra.Command{Use: "clear-topic USER [EXCHANGE]", Short: "take topic permissions away", Args: cobra.RangeArgs(1, 2)},
		func(cmd *cobra.Command, op *operator, args []string) error {
			at := append([]string{"topic-permissions", vhost}, args...)
			return op.do(cmd.Context(), http.MethodDelete, path(at...), nil, nil)
		}), &vhost)
}
