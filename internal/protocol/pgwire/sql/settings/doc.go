// Package settings has the run-time parameters of PostgreSQL: their list, what values they take,
// and their values in a session.
//
// It owns the forms of values (units, time zones, encodings, lists of names) and what SET, SET
// LOCAL, RESET and a rollback do to them. Commands, and the settings that are about the current
// transaction, belong to package sql.
//
// Invariants: a value is stored in the form in which SHOW prints it. The maps of a Snapshot are
// never modified, so that taking one costs nothing.
package settings
