// Package drivers runs unmodified PostgreSQL clients against the SQL protocol: psql, pgbench, pgx,
// database/sql (pgx and lib/pq), psycopg 2 and 3 (python/), node-postgres (node/) and the JDBC
// driver (java/). Each connects with and without a password, registers hstore, and uses prepared
// statements, the binary format if it has one, cursors, transactions, errors and cancel.
//
// If PostgreSQL is installed, the same programs also run on the native schema in a real one, which
// shows that they test PostgreSQL's behaviour and not ours.
package drivers
