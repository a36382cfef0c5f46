// Package session has the functions that depend on the session, the clock or chance: the current
// user and database, now(), sleeping, random().
//
// It owns no state: the results come from expr.Env. A wait ends with the context of the statement.
package session
