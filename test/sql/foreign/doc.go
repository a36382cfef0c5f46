// Package foreign holds the tests of Fiveways inside a real PostgreSQL: foreign tables of
// postgres_fdw over views of mbus4.create_view, which post in the local transaction, and the
// functions of mbus4 called through dblink. docs/protocols/sql-in-postgresql.md describes the
// set-up.
package foreign
