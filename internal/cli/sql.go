package cli

import (
	"fmt"

	"fiveways/internal/sqlschema"

	"github.com/spf13/cobra"
)

func sqlCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sql",
		Short: "put queues into a PostgreSQL of your own",
		Long: `For those who want their queues inside their own database: a real PostgreSQL, 15 or newer, gets the schema mbus4 with the
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
		Short: "install the schema mbus4 into a PostgreSQL database, or bring it up to date",
		Long: `Connects to the database of DSN, a URL or key=value pairs as psql takes them (the variables PGHOST, PGPASSWORD and so on
count too), and in one transaction makes the schemas mbus4, mbus (the same under the older name) and mbus4_store (the tables).

Who owns the database can do it; a superuser is not needed. The extension hstore is made when it is missing. What is made belongs to the user of
DSN: the functions work with this user's rights. Run again it brings functions up to date; queues and messages stay.`,
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
		Long: `Prints what ` + "`fiveways sql install`" + ` would run, as one transaction. The database needs the extension hstore beforehand, and the
script has to know its schema.`,
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
