package pgwire

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// errShutdown is what sessions are told when the server stops.
var errShutdown = fatal(pgerror.AdminShutdown, "terminating connection due to administrator command")

// fatal is an error that ends the connection.
func fatal(code, format string, args ...any) *pgerror.Error {
	e := pgerror.New(code, format, args...)
	e.Severity = severityFatal
	return e
}

const severityFatal = "FATAL"

// errorOf is what the client is told of err; internal tells that it is a mistake of ours, for the
// log.
func errorOf(err error) (e *pgerror.Error, internal bool) {
	switch {
	case errors.As(err, &e):
		return e, false // also with XX000, which PostgreSQL has for texts that are no hstore, say
	case errors.Is(err, context.Canceled):
		return pgerror.New(pgerror.QueryCanceled, "canceling statement due to user request"), false
	}
	return pgerror.New(pgerror.InternalError, "%v", err), true
}

// loginError is what becomes of an error of opening a session; database is the name that the client
// used.
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

// evicted is what a session is told that the engine ends.
func evicted(reason error) *pgerror.Error {
	e := *errShutdown
	var why *failure.Error
	if errors.As(reason, &why) {
		e.Detail = why.Err.Error()
	}
	return &e
}

// position is a place in a statement as a field of an error; none is "".
func position(p int) string {
	if p <= 0 {
		return ""
	}
	return strconv.Itoa(p)
}

// clean makes a text fit to be sent: UTF-8 without zero bytes.
func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "?"), "\x00", "?")
}
