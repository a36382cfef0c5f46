// Package session implements the functions that depend on the session, the clock or randomness: the
// current user and database, now(), sleeping, random().
//
// It has no state: the results come from expr.Env. A wait ends with the context of the statement.
package session
