// Package management compares the HTTP API with that of RabbitMQ 3.10's management plugin.
//
// Each file of testdata is a script of requests with RabbitMQ's answers: the status, error texts
// word by word, and the fields of objects with their types, and with their values where these do
// not depend on the run. The scripts are run on Fiveways, and an answer that differs fails the test
// unless expected_differences.txt lists it with a reason. `-record` runs them on an installed
// RabbitMQ and records its answers.
package management
