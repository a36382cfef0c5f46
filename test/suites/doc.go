// Package suites runs the test suites of AMQP clients, unmodified, as their registries have them,
// against Fiveways, and with `-broker rabbitmq` against a RabbitMQ 3.10 that is installed here.
//
// Each suite is a folder: run.sh, which fetches the suite (`run.sh fetch DIR`) and runs it (`run.sh
// run DIR REPORT`), and exceptions.txt, the cases that are expected to fail or are not run, each
// with its reason. A case that fails and is not there fails the test, and so does one that is there
// and passes.
//
// A suite that calls rabbitmqctl gets the test binary instead, which passes the command on to the
// test: that runs the real rabbitmqctl, or, on Fiveways, the equivalent fiveways command.
//
// The quick suites are part of `go test ./...`; `-suites all`, or names with commas between them,
// runs others.
package suites
