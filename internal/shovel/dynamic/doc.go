// Package dynamic runs the shovels that are defined as parameters of virtual hosts, in the format
// of RabbitMQ's shovel plugin (component shovel).
//
// A Manager follows the parameters. Each has one worker, which runs package shovel until the
// parameter is changed or deleted, or until the shovel is finished; then it deletes the parameter.
// A Manager may be used by any number of goroutines.
package dynamic
