package pgwire

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// errShutdown is the error that sessions receive when the server stops.
var errShutdown = fatal(pgerror.AdminShutdown, "terminating connection due to administrator command")

// fatal returns an error that ends the connection.
func fatal(code, format string, args ...any) *pgerror.Error {
	e := pgerror.New(code, format, args...)
	e.Severity = severityFatal
	return e
}

const severityFatal = "FATAL"

// errorOf returns the error to send to the client for err. internal reports whether err is a bug in
// the server, which the caller logs.
func errorOf(err error) (e *pgerror.Error, internal bool) {
	switch {
	case errors.As(err, &e):
		return e, false // also for XX000, which PostgreSQL returns for malformed hstore texts, for example
	case errors.Is(err, context.Canceled):
		return pgerror.New(pgerror.QueryCanceled, "canceling statement due to user request"), false
	}
	return pgerror.New(pgerror.InternalError, "%v", err), true
}

// loginError converts an error from opening a session. database is the name that the client used.
func loginError(err error, user, database string) *pgerror.Error {
	for _, row := range loginErrors {
		if errors.Is(err, row.err) {
			e := fatal(row.code, "%s", strings.NewReplacer("{database}", database, "{user}", user).Replace(row.message))
			e.Detail, e.Hint = row.detail, row.hint
			return e
		}
	}
	return fatal(pgerror.InternalError, "%v", err)
}

var loginErrors = []struct {
	err          error
	code         string
	message      string
	detail, hint string
}{
	{err: failure.ErrVHostNotFound, code: pgerror.InvalidCatalog, message: `database "{database}" does not exist`,
		hint: `A database is a virtual host of that name; "` + rootDatabase + `" is the virtual host "` + rootVHost + `".`},
	{err: failure.ErrVHostRefused, code: pgerror.InsufficientPrivilege, message: `permission denied for database "{database}"`,
		detail: "User does not have CONNECT privilege.", hint: "A user may enter a virtual host in which it has a permission."},
	{err: failure.ErrVHostConnections, code: pgerror.TooManyConnections, message: `too many connections for database "{database}"`},
	{err: failure.ErrUserConnections, code: pgerror.TooManyConnections, message: `too many connections for role "{user}"`},
	{err: failure.ErrClosed, code: pgerror.CannotConnectNow, message: `the database system is shutting down`},
}

// evicted returns the error for a session that the engine ends.
func evicted(reason error) *pgerror.Error {
	e := *errShutdown
	var why *failure.Error
	if errors.As(reason, &why) {
		e.Detail = why.Err.Error()
	}
	return &e
}

// position formats a position in a statement as an error field, or "" if there is none.
func position(p int) string {
	if p <= 0 {
		return ""
	}
	return strconv.Itoa(p)
}

// clean returns s as valid UTF-8 without zero bytes.
func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "?"), "\x00", "?")
}
