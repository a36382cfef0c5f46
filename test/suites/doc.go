// Package suites runs the test suites of clients, unmodified and as published in their registries,
// against Fiveways, and with `-broker rabbitmq`, `redis` or `postgres` against the real server.
// They are the suites of AMQP clients, Redis' own, and that of pgx's connections.
//
// Each suite is a folder: run.sh, which fetches the suite (`run.sh fetch DIR`) and runs it (`run.sh
// run DIR REPORT`), and exceptions.txt, which lists the cases that are expected to fail or are not
// run, each with its reason. A case that fails without being listed fails the test, and so does a
// listed one that passes.
//
// A suite that calls rabbitmqctl gets the test binary instead, which passes the command on to the
// test. The test runs the real rabbitmqctl or, for Fiveways, the equivalent fiveways command.
//
// The quick suites are part of `go test ./...`; `-suites all`, or a comma-separated list of names,
// runs others.
package suites
