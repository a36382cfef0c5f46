// Package schema defines what statements can name: schemas, and the functions and relations in
// them.
//
// Packages that have something to show implement its interfaces; package query plans and runs
// statements over them. It owns no state and keeps no locks.
//
// Invariant: what a relation supports is what it implements. A relation may be made anew for each
// statement.
package schema
