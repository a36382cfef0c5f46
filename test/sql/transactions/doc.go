// Package transactions compares what BEGIN, COMMIT, savepoints, cursors, prepared statements and
// settings do here and in PostgreSQL: random sequences of messages are sent to both, and every tag,
// error, warning and status must be the same.
package transactions
