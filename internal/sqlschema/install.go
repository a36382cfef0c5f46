package sqlschema

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// oldestServer is the server_version_num of the oldest PostgreSQL that the schema works on.
const oldestServer = 150000

// What keeps the schema from being installed, each with a way out that the command line tells.
var (
	ErrTooOld  = errors.New("PostgreSQL 15 or newer is needed")
	ErrHstore  = errors.New("the extension hstore cannot be had")
	ErrForeign = errors.New("another software's queues are there")
	ErrBroker  = errors.New("this is no PostgreSQL but a Fiveways")
	ErrNewer   = errors.New("a newer version of the schema is there")
	ErrRights  = errors.New("no right to make schemas in the database")
	ErrDSN     = errors.New("not a DSN")
	ErrConnect = errors.New("cannot connect")
)

// The SQLSTATEs that are told apart.
const (
	insufficientPrivilege = "42501"
	undefinedFile         = "58P01" // the extension's files are not on the server
	notSupported          = "0A000" // as above, from version 16 on
)

// Report is what Install found and did.
type Report struct {
	Database, User, Server string
	Before                 int // the version that was there; 0 none
}

// Install puts the schema into the database of dsn, or brings the one that is there up to date. Queues and messages stay. It is one transaction.
func Install(ctx context.Context, dsn string) (Report, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return Report{}, fmt.Errorf("%w: %w", ErrDSN, err)
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return Report{}, fmt.Errorf("%w: %w", ErrConnect, err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var r Report
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if r, err = inspect(ctx, tx); err != nil {
			return err
		}
		hstore, err := ensureHstore(ctx, tx)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, Text(hstore)) // the simple protocol: many statements
		if code(err) == insufficientPrivilege {
			return fmt.Errorf("%w: %w", ErrRights, err)
		}
		return err
	})
	return r, err
}

// inspect looks whether the schema may be put there.
func inspect(ctx context.Context, tx pgx.Tx) (r Report, err error) {
	var version int
	var ours, mbus bool
	err = tx.QueryRow(ctx, `select current_database(), current_user, current_setting('server_version'), current_setting('server_version_num')::int,
		to_regclass('mbus4_store.version') is not null, to_regnamespace('mbus') is not null or to_regnamespace('mbus4') is not null`).
		Scan(&r.Database, &r.User, &r.Server, &version, &ours, &mbus)
	switch {
	case code(err) == insufficientPrivilege:
		return r, fmt.Errorf("%w: the schema there belongs to somebody else: %w", ErrRights, err)
	case err != nil:
		return r, err
	case strings.Contains(r.Server, "(Fiveways)"):
		return r, ErrBroker
	case version < oldestServer:
		return r, fmt.Errorf("%w, this is %s", ErrTooOld, r.Server)
	case mbus && !ours:
		return r, fmt.Errorf("%w: database %s has a schema mbus or mbus4 that is not of this kind", ErrForeign, r.Database)
	case !ours:
		return r, nil
	}
	if err := tx.QueryRow(ctx, "select coalesce(max(version), 0) from mbus4_store.version").Scan(&r.Before); err != nil {
		return r, err
	}
	if r.Before > Version {
		return r, fmt.Errorf("%w: %d, this is %d", ErrNewer, r.Before, Version)
	}
	return r, nil
}

// ensureHstore returns the schema of hstore, which it makes when it is missing.
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

// code returns the SQLSTATE of what the server said; "" for everything else.
func code(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}
