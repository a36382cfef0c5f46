package sqlschema

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// oldestServer is the server_version_num of the oldest supported PostgreSQL.
const oldestServer = 150000

// Reasons why the schema cannot be installed. The command line adds a remedy for each.
var (
	ErrTooOld  = errors.New("PostgreSQL 15 or newer is needed")
	ErrHstore  = errors.New("the extension hstore is not available")
	ErrForeign = errors.New("queues of other software are there")
	ErrOthers  = errors.New("semaphores of other software are there")
	ErrBroker  = errors.New("this is Fiveways, not PostgreSQL")
	ErrNewer   = errors.New("a newer version of the schema is installed")
	ErrRights  = errors.New("no permission to create schemas in the database")
	ErrDSN     = errors.New("not a DSN")
	ErrConnect = errors.New("cannot connect")
)

// SQLSTATEs that are handled specially.
const (
	insufficientPrivilege = "42501"
	undefinedFile         = "58P01" // the files of the extension are not on the server
	notSupported          = "0A000" // the same, since version 16
)

// Report is the result of Install.
type Report struct {
	Database, User, Server string
	Before                 int  // version that was installed before; 0: none
	Tasks                  bool // for semaphores: their tasks refer to the table markup.task
}

// Install installs the schema mbus4 in the database of dsn, or updates it. Queues and messages
// stay. It runs in one transaction.
func Install(ctx context.Context, dsn string) (Report, error) {
	return install(ctx, dsn, func(tx pgx.Tx, r *Report) error {
		if err := inspect(ctx, tx, r); err != nil {
			return err
		}
		hstore, err := ensureHstore(ctx, tx)
		if err != nil {
			return err
		}
		return runScript(ctx, tx, Text(hstore))
	})
}

// install connects, checks that the server supports a schema, and calls work to install it, all in
// one transaction.
func install(ctx context.Context, dsn string, work func(pgx.Tx, *Report) error) (r Report, err error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return r, fmt.Errorf("%w: %w", ErrDSN, err)
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return r, fmt.Errorf("%w: %w", ErrConnect, err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if err := inspectServer(ctx, tx, &r); err != nil {
			return err
		}
		return work(tx, &r)
	})
	return r, err
}

// runScript runs a script of several statements.
func runScript(ctx context.Context, tx pgx.Tx, script string) error {
	_, err := tx.Exec(ctx, script) // the simple protocol allows several statements
	if code(err) == insufficientPrivilege {
		return fmt.Errorf("%w: %w", ErrRights, err)
	}
	return err
}

// inspectServer checks that the server supports a schema.
func inspectServer(ctx context.Context, tx pgx.Tx, r *Report) error {
	var version int
	err := tx.QueryRow(ctx, `select current_database(), current_user, current_setting('server_version'), current_setting('server_version_num')::int`).
		Scan(&r.Database, &r.User, &r.Server, &version)
	switch {
	case err != nil:
		return err
	case strings.Contains(r.Server, "(Fiveways)"):
		return ErrBroker
	case version < oldestServer:
		return fmt.Errorf("%w, this is %s", ErrTooOld, r.Server)
	}
	return nil
}

// inspect checks that the schema may be installed.
func inspect(ctx context.Context, tx pgx.Tx, r *Report) error {
	var ours, mbus bool
	err := tx.QueryRow(ctx, `select to_regclass('mbus4_store.version') is not null, to_regnamespace('mbus') is not null or to_regnamespace('mbus4') is not null`).
		Scan(&ours, &mbus)
	switch {
	case err != nil:
		return foreignRights(err)
	case mbus && !ours:
		return fmt.Errorf("%w: database %s has a schema mbus or mbus4 that was not installed by Fiveways", ErrForeign, r.Database)
	case !ours:
		return nil
	}
	return r.findBefore(ctx, tx, "mbus4_store.version", Version)
}

// findBefore reads the installed version of a schema, which must not be newer than this one.
func (r *Report) findBefore(ctx context.Context, tx pgx.Tx, table string, version int) error {
	if err := tx.QueryRow(ctx, "select coalesce(max(version), 0) from "+table).Scan(&r.Before); err != nil {
		return foreignRights(err)
	}
	if r.Before > version {
		return fmt.Errorf("%w: %d, this is %d", ErrNewer, r.Before, version)
	}
	return nil
}

// foreignRights wraps an error of reading an existing schema.
func foreignRights(err error) error {
	if code(err) == insufficientPrivilege {
		return fmt.Errorf("%w: the existing schema belongs to another user: %w", ErrRights, err)
	}
	return err
}

// ensureHstore returns the schema of the extension hstore, and creates the extension if it is
// missing.
func ensureHstore(ctx context.Context, tx pgx.Tx) (schema string, err error) {
	var usable bool
	find := func() error {
		return tx.QueryRow(ctx, `select n.nspname, has_schema_privilege(n.oid, 'usage')
			from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'hstore'`).Scan(&schema, &usable)
	}
	err = find()
	if errors.Is(err, pgx.ErrNoRows) {
		if _, err = tx.Exec(ctx, "create extension hstore"); err == nil {
			err = find()
		}
	}
	switch c := code(err); {
	case c == insufficientPrivilege, c == undefinedFile, c == notSupported:
		return "", fmt.Errorf("%w: %w", ErrHstore, err)
	case err == nil && !usable:
		return "", fmt.Errorf("%w: it is in the schema %s, which this user may not use", ErrHstore, schema)
	}
	return schema, err
}

// code returns the SQLSTATE of a server error, or "" for any other error.
func code(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}
