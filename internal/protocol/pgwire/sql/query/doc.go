// Package query plans and runs the statements about rows: SELECT, VALUES, set operations, WITH,
// INSERT, UPDATE and DELETE.
//
// A Planner turns the tree of a statement into a Select or a Change. Everything that the
// expressions of one SELECT refer to is in one row, in slots (see level), so that joins, grouping
// and sorting only fill in slots. Rows are passed on one by one, as they are asked for.
//
// It owns names and slots, the order in which sources are read, and what is read once or not at all
// because reading may take a message. What happens to the rows of one SELECT is in package exec;
// relations and functions come from package schema; sessions, transactions, cursors and all other
// commands belong to package sql.
//
// Invariants: a plan holds no state of a run, and may be run any number of times, one run at a time
// in a session. env.Rows of the statement around a query are the same whenever a row is passed on.
package query
