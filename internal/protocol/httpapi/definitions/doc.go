// Package definitions exports everything defined in a broker in RabbitMQ's file format, and imports
// such files: those of RabbitMQ 3.x and 4.x as they are, and our own.
//
// A file adds and changes; it removes nothing. Users, virtual hosts, permissions, parameters and
// policies become what the file says. Existing queues, exchanges and bindings stay as they are. The
// definitions of one virtual host are imported atomically.
package definitions
