// Package queues has the commands about queues, exchanges, bindings and messages, and the tasks
// that move messages.
package queues
