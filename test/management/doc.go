// Package management compares the HTTP API with that of RabbitMQ 3.10's management plugin.
//
// Each file of testdata is a script of requests with the answers of RabbitMQ: status, refusals word
// by word, and the fields of what is shown with their types, with their values where they do not
// depend on the run. The scripts are played to Fiveways, and answers that are others fail the test
// unless expected_differences.txt has them with a reason. `-record` plays them to an installed
// RabbitMQ and writes its answers down.
package management
