// Package dynamic runs the shovels that are kept as parameters of virtual hosts, in the words of
// RabbitMQ's shovel plugin (component shovel).
//
// A Manager follows the parameters: each has one worker, which runs until the parameter is changed
// or deleted, or until it has moved what it is to move; then the parameter is deleted. What a
// worker does is package shovel. A Manager may be asked from many goroutines.
package dynamic
