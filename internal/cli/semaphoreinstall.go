package cli

import (
	"fmt"

	"fiveways/internal/sqlschema"

	"github.com/spf13/cobra"
)

func semaphoreInstall() *cobra.Command {
	var printed bool
	cmd := &cobra.Command{
		Use:   "install DSN",
		Short: "install task semaphores into a PostgreSQL database of your own, or bring them up to date",
		Long: `For those who keep their tasks in a real PostgreSQL, 15 or newer: its database gets the tables markup.semaphore and markup.semaphore_task and
the functions semaphore.*, which decide by the same rule as the broker. No broker is needed for it.

Connects to the database of DSN, a URL or key=value pairs as psql takes them (the variables PGHOST, PGPASSWORD and so on count too), and does all in one
transaction. Tables that are there already are taken over with what is in them, and run again it brings functions up to date. Where there is a table
markup.task when the tables are made, tasks of semaphores refer to it.

Who owns the database can do it; a superuser is not needed. The functions work with the rights of who calls them.`,
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
