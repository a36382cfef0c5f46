package sqlinstall

import (
	"fmt"

	"fiveways.dev/fiveways/internal/cli/exitcode"
	"fiveways.dev/fiveways/internal/sqlschema"

	"github.com/spf13/cobra"
)

// Verdicts are the exit codes of errors about installations into PostgreSQL, and the ways out.
var Verdicts = []exitcode.Verdict{
	{Err: sqlschema.ErrTooOld, Code: exitcode.Failure, Hint: "Install it into a database of a newer PostgreSQL, or use the SQL protocol of the broker (fiveways serve)."},
	{Err: sqlschema.ErrHstore, Code: exitcode.Failure, Hint: "A user with the permission must run: CREATE EXTENSION hstore; (it comes with PostgreSQL, on Debian as postgresql-contrib) or GRANT USAGE ON SCHEMA of it."},
	{Err: sqlschema.ErrBroker, Code: exitcode.Failure, Hint: "It has the schemas mbus4 and semaphore from the start: select mbus4.readme()."},
	{Err: sqlschema.ErrOthers, Code: exitcode.Failure, Hint: "Choose another database, or drop the schema semaphore if it is not needed any more."},
	{Err: sqlschema.ErrForeign, Code: exitcode.Failure, Hint: "Choose another database, or drop those schemas if they are not needed any more (the extension: DROP EXTENSION mbus CASCADE)."},
	{Err: sqlschema.ErrNewer, Code: exitcode.Failure, Hint: "Use the fiveways that installed it, or a newer one."},
	{Err: sqlschema.ErrRights, Code: exitcode.Failure, Hint: "Connect as the owner of the database, or have the owner run: GRANT CREATE ON DATABASE name TO user."},
	{Err: sqlschema.ErrDSN, Code: exitcode.WrongUsage, Hint: "It looks like postgres://user@host:5432/database or \"host=localhost user=me dbname=shop\"."},
	{Err: sqlschema.ErrConnect, Code: exitcode.Failure, Hint: "Does psql connect with the same DSN? A password comes from PGPASSWORD or ~/.pgpass as well."},
}

// Command returns `fiveways sql`.
func Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sql",
		Short: "put queues into your own PostgreSQL",
		Long: `For queues inside your own database: a real PostgreSQL, 15 or newer, gets the schema mbus4 with the
functions that the SQL protocol of the broker serves. No broker is needed for it.`,
		Example: `  fiveways sql install postgres://me@localhost/shop
  fiveways sql print > mbus4.sql`,
	}
	cmd.AddCommand(sqlInstall(), sqlPrint())
	return cmd
}

func sqlInstall() *cobra.Command {
	return &cobra.Command{
		Use:   "install DSN",
		Short: "install or update the schema mbus4 in a PostgreSQL database",
		Long: `Connects to the database of DSN, a URL or key=value pairs as psql takes them (the variables PGHOST, PGPASSWORD and so on
count too), and in one transaction creates the schemas mbus4, mbus (the same under the older name) and mbus4_store (the tables).

It needs the owner of the database, not a superuser. The extension hstore is created if missing. All objects belong to the user of
DSN: the functions run with this user's permissions. Running it again updates the functions; queues and messages stay.`,
		Example: `  fiveways sql install postgres://me@localhost/shop
  PGPASSWORD=secret fiveways sql install "host=db.example.org user=me dbname=shop"
  psql -d shop -c "select mbus4.create_queue('orders', 8)"`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := sqlschema.Install(cmd.Context(), args[0])
			if err != nil {
				return fmt.Errorf("sql install: %w", err)
			}
			did := "Installed"
			if r.Before != 0 {
				did = fmt.Sprintf("Version %d was there. Installed", r.Before)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s version %d of the schema mbus4 in database %s (PostgreSQL %s), owned by %s.\n"+
				"Begin with: select mbus4.create_queue('work', 8); select mbus4.post('work', 'key=>value'); select * from mbus4.consume('work');\n",
				did, sqlschema.Version, r.Database, r.Server, r.User)
			return err
		},
	}
}

func sqlPrint() *cobra.Command {
	var hstore string
	cmd := &cobra.Command{
		Use:   "print",
		Short: "print the SQL that install runs",
		Long: `Prints what ` + "`fiveways sql install`" + ` would run, as one transaction. The database needs the extension hstore first, and the
script must know its schema.`,
		Example: `  fiveways sql print | psql -v ON_ERROR_STOP=1 -d shop`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "begin;\n%s\ncommit;\n", sqlschema.Text(hstore))
			return err
		},
	}
	cmd.Flags().StringVar(&hstore, "hstore-schema", "public", "schema that the extension hstore is in")
	return cmd
}
