package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"fiveways.dev/fiveways/internal/cli/access"
	"fiveways.dev/fiveways/internal/cli/benches"
	"fiveways.dev/fiveways/internal/cli/certificates"
	"fiveways.dev/fiveways/internal/cli/clusters"
	"fiveways.dev/fiveways/internal/cli/datafolder"
	"fiveways.dev/fiveways/internal/cli/definitions"
	"fiveways.dev/fiveways/internal/cli/demo"
	"fiveways.dev/fiveways/internal/cli/exitcode"
	"fiveways.dev/fiveways/internal/cli/jobs"
	"fiveways.dev/fiveways/internal/cli/keys"
	"fiveways.dev/fiveways/internal/cli/migration"
	"fiveways.dev/fiveways/internal/cli/monitoring"
	"fiveways.dev/fiveways/internal/cli/queues"
	"fiveways.dev/fiveways/internal/cli/semaphores"
	"fiveways.dev/fiveways/internal/cli/serving"
	"fiveways.dev/fiveways/internal/cli/sqlinstall"

	"github.com/redis/go-redis/v9/logging"
	"github.com/spf13/cobra"
)

// Main runs the command that args name and returns the process's exit code. When ctx ends, a
// running command stops as on Ctrl-C.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	logging.Disable() // connection problems are errors of the command
	started := false  // errors before a command's own code runs are usage errors
	root := commands(stdout, stderr)
	root.PersistentPreRun = func(*cobra.Command, []string) { started = true }
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		completeNames(root) // last, because cobra keeps completion functions of flags for ever
	}
	root.SetArgs(args)
	command, err := root.ExecuteContextC(ctx)
	if err != nil && !started {
		err = fmt.Errorf("%w: %w", exitcode.ErrUsage, wordBefore(root, args, err))
	}
	return report(stderr, command.CommandPath(), err)
}

// commands returns all commands below the root. They print to stdout and stderr.
func commands(stdout, stderr io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use:   "fiveways",
		Short: "a durable message broker in one binary",
		Long: `Fiveways is one durable queue engine in one binary with five protocols in front of it: AMQP 0-9-1 (RabbitMQ's clients), SQL (PostgreSQL's
clients), the Redis protocol (jobs, lists, channels, streams), the etcd v3 API (queues as keys, and ordinary keys) and HTTP (semaphores, and
management).

` + exitHelp,
		Example: `  fiveways serve                        serve on 127.0.0.1, data in ./fiveways-data
  fiveways demo                         start a broker, send messages, show what arrived
  fiveways bench amqp --duration 5s     measure a running broker
  fiveways user add alice               add a user to the broker on ./fiveways-data
  fiveways queue list --sort messages   the queues, and how much they hold
  fiveways message list orders          look at the messages of a queue, taking none
  fiveways semaphore show crowd         how many tasks of a semaphore run, and how many wait
  fiveways job list                     the queues of jobs, and how many each has
  fiveways doctor ./fiveways-data       look into a data folder offline`,
		Version:       thisBuild().String(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	addGroup(root, "Run a broker, and look after it", serving.ServeCommand(buildVersion()), serving.ConfigCommand(), clusters.Command(), datafolder.BackupCommand(), datafolder.RestoreCommand(),
		datafolder.DoctorCommand(), certificates.Command())
	addGroup(root, "See how it is", monitoring.OverviewCommand(), monitoring.HealthCommand(), monitoring.NodeCommand(), monitoring.ListenerCommand(), monitoring.ConnectionCommand(),
		monitoring.ChannelCommand(), monitoring.ConsumerCommand())
	addGroup(root, "Queues and what is in them", queues.QueueCommand(), queues.ExchangeCommand(), queues.BindingCommand(), queues.MessageCommand(), queues.TaskCommand(), jobs.Command(),
		semaphores.Command(), keys.Command())
	addGroup(root, "Users and rules", access.UserCommand(), access.VhostCommand(), access.PermissionCommand(), definitions.PolicyCommand(), definitions.OperatorPolicyCommand(),
		definitions.ParameterCommand(), definitions.DefinitionsCommand())
	addGroup(root, "Move data, and use queues elsewhere", migration.ShovelCommand(), migration.MigrateCommand(), sqlinstall.Command())
	addGroup(root, "Try it, and measure it", demo.Command(buildVersion()), benches.Command())
	root.AddCommand(versionCommand())
	root.SetOut(stdout) // before cobra creates the completion commands, which keep it
	root.SetErr(stderr)
	root.SetHelpCommand(helpCommand())
	root.InitDefaultHelpCmd()
	addCompletion(root)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return flagError(err) })
	checkWords(root)
	return root
}

// addGroup adds commands that the help of root lists under a title.
func addGroup(root *cobra.Command, title string, all ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title + ":"})
	for _, cmd := range all {
		cmd.GroupID = title
	}
	root.AddCommand(all...)
}

// helpCommand returns a command that shows a command's help, and rejects words that are not
// commands.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND ...]", Short: "show what a command does", Example: "  fiveways help queue list",
		RunE: func(cmd *cobra.Command, words []string) error {
			about, rest, err := cmd.Root().Find(words)
			if err == nil {
				err = knownBelow(about, rest)
			}
			if err != nil {
				return fmt.Errorf("%w: %w", exitcode.ErrUsage, err)
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}
