// Package catalog is pg_catalog and information_schema: what psql, drivers and other tools ask
// about types, relations, functions and roles. Every relation that PostgreSQL 15 has there exists
// with its columns (pgdata/columns.txt, made by the query beside it); those that nothing here could
// fill are empty. The contents come from the types, the built-in functions and the other schemas of
// a session, at the time they are asked for.
package catalog
