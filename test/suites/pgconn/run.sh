#!/bin/sh
# pgx, the Go driver for PostgreSQL: the tests of its connections and messages, which need few tables.
. ../lib.sh
fetch() { go_module github.com/jackc/pgx/v5 v5.13.0; }
run() {
	cd "$DIR/src"
	PGX_TEST_DATABASE=$DATABASE_URL go test -vet=off -count 1 -timeout 4m -json ./pgconn ./pgproto3 >"$REPORT" || [ $? -eq 1 ]
}
"$1"
