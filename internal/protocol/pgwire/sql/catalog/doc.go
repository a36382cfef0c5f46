// Package catalog is pg_catalog and information_schema, which psql, drivers and other tools query
// for types, relations, functions and roles. Every relation that PostgreSQL 15 has there exists
// with its columns (pgdata/columns.txt, made by the query beside it); a relation about things that
// do not exist here is empty. Rows are computed at the time of the query, from the types, the
// built-in functions and the other schemas of a session.
package catalog
