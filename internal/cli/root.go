package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/redis/go-redis/v9/logging"
	"github.com/spf13/cobra"
)

// Main runs the command that args name and returns the process's exit code. When ctx ends, a running command stops as on Ctrl-C.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	logging.Disable() // what goes wrong with a connection is an error of the command
	started := false  // whether a command's own code ran; an error before that is about the command line
	root := &cobra.Command{
		Use:   "fiveways",
		Short: "a durable message broker in one binary",
		Long: `Fiveways is one durable queue engine in one binary with five protocols in front of it: AMQP 0-9-1 (RabbitMQ's clients), SQL (PostgreSQL's
clients), the protocol of Redis (jobs, lists, channels, streams), the etcd v3 API (queues as keys, and ordinary keys) and HTTP (semaphores, and
what operators do).

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
		SilenceErrors:    true,
		SilenceUsage:     true,
		PersistentPreRun: func(*cobra.Command, []string) { started = true },
	}
	root.AddCommand(serveCommand(), configCommand(), demoCommand(), benchCommand(), doctorCommand(), healthCommand(), backupCommand(), tlsCommand(), versionCommand())
	root.AddCommand(userCommand(), vhostCommand(), permissionCommand(), messageCommand(), semaphoreCommand(), jobCommand(), sqlCommand(), migrateCommand())
	root.AddCommand(overviewCommand(), nodeCommand(), listenerCommand(), queueCommand(), exchangeCommand(), bindingCommand(), connectionCommand(), channelCommand(),
		consumerCommand(), policyCommand(), operatorPolicyCommand(), parameterCommand(), definitionsCommand(), taskCommand(), keyCommand(), shovelCommand())
	for _, group := range root.Commands() {
		if group.HasSubCommands() && !group.Runnable() { // else a word that is no command would show the help, and be a success
			group.Args, group.RunE = knownBelow, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
	}
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	command, err := root.ExecuteContextC(ctx)
	if err != nil && !started {
		err = fmt.Errorf("%w: %w", errUsage, err)
	}
	return report(stderr, command.CommandPath(), err)
}

// knownBelow refuses words that are no command of a group, and names those that are meant perhaps.
func knownBelow(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if cmd.SuggestionsMinimumDistance <= 0 {
		cmd.SuggestionsMinimumDistance = 2
	}
	hint := ""
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return fmt.Errorf("unknown command %q for %q%s", args[0], cmd.CommandPath(), hint)
}
