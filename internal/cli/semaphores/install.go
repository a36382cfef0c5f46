package semaphores

import (
	"fmt"

	"fiveways.dev/fiveways/internal/sqlschema"

	"github.com/spf13/cobra"
)

func semaphoreInstall() *cobra.Command {
	var printed bool
	cmd := &cobra.Command{
		Use:   "install DSN",
		Short: "install or update task semaphores in your own PostgreSQL database",
		Long: `For tasks in a real PostgreSQL, 15 or newer: the database gets the tables markup.semaphore and markup.semaphore_task and
the functions semaphore.*, with the same rule as the broker. No broker is needed for it.

Connects to the database of DSN, a URL or key=value pairs as psql takes them (the variables PGHOST, PGPASSWORD and so on count too), and does everything in one
transaction. Existing tables are adopted with their content, and running it again updates the functions. If a table
markup.task exists when the tables are created, tasks of semaphores reference it.

It needs the owner of the database, not a superuser. The functions run with the permissions of their caller.`,
		Example: `  fiveways semaphore install postgres://me@localhost/shop
  PGPASSWORD=secret fiveways semaphore install "host=db.example.org user=me dbname=shop"
  fiveways semaphore install --print > semaphores.sql`,
		Args: func(cmd *cobra.Command, args []string) error {
			if printed {
				return cobra.NoArgs(cmd, args)
			}
			return cobra.ExactArgs(1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if printed {
				_, err := fmt.Fprintf(cmd.OutOrStdout(), "begin;\n%s\ncommit;\n", sqlschema.SemaphoreText())
				return err
			}
			r, err := sqlschema.InstallSemaphores(cmd.Context(), args[0])
			if err != nil {
				return fmt.Errorf("semaphore install: %w", err)
			}
			did, tasks := "Installed", "There is no table markup.task that they refer to: a task is any number"
			if r.Before != 0 {
				did = fmt.Sprintf("Version %d was there. Installed", r.Before)
			}
			if r.Tasks {
				tasks = "Tasks refer to the table markup.task"
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s version %d of task semaphores in database %s (PostgreSQL %s), owned by %s. %s.\n"+
				"Begin with: select semaphore.get_or_create('crowd', 1000, 900); select semaphore.enqueue('crowd', 42, 5.0); select * from semaphore.events();\n",
				did, sqlschema.SemaphoreVersion, r.Database, r.Server, r.User, tasks)
			return err
		},
	}
	cmd.Flags().BoolVar(&printed, "print", false, "print the SQL instead of running it")
	return cmd
}
