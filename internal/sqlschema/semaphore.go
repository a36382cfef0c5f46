package sqlschema

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// SemaphoreVersion is the version of the schema in SemaphoreText.
const SemaphoreVersion = 1

// SemaphoreText returns the SQL of task semaphores as one script: the tables of the schema markup
// and the functions of the schema semaphore. It must run in one transaction, as their future owner.
func SemaphoreText() string { return join("semaphore/*.sql", "pg_catalog, pg_temp") }

// InstallSemaphores installs or updates task semaphores in the database of dsn. Semaphores and
// tasks stay, even in tables of markup that were created by hand. It runs in one transaction.
func InstallSemaphores(ctx context.Context, dsn string) (Report, error) {
	return install(ctx, dsn, func(tx pgx.Tx, r *Report) error {
		if err := inspectSemaphores(ctx, tx, r); err != nil {
			return err
		}
		if err := runScript(ctx, tx, SemaphoreText()); err != nil {
			return err
		}
		return tx.QueryRow(ctx, `select exists (select from pg_constraint
			where contype = 'f' and conrelid = 'markup.semaphore_task'::regclass and confrelid = to_regclass('markup.task'))`).Scan(&r.Tasks)
	})
}

// inspectSemaphores checks that the schema may be installed.
func inspectSemaphores(ctx context.Context, tx pgx.Tx, r *Report) error {
	var ours, taken bool
	err := tx.QueryRow(ctx, `select to_regclass('semaphore.version') is not null, to_regnamespace('semaphore') is not null`).Scan(&ours, &taken)
	switch {
	case err != nil:
		return foreignRights(err)
	case taken && !ours:
		return fmt.Errorf("%w: database %s has a schema semaphore that was not installed by Fiveways", ErrOthers, r.Database)
	case !ours:
		return nil
	}
	return r.findBefore(ctx, tx, "semaphore.version", SemaphoreVersion)
}
