// Package definitions writes all that is defined in a broker into a file as
// RabbitMQ's definition files are, and takes such files in: those of RabbitMQ
// 3.x and 4.x as they are, and our own.
//
// A file adds and changes; it removes nothing. Users, virtual hosts, permissions,
// parameters and policies become what the file says. A queue, an exchange or a
// binding that is there stays as it is. What is in one virtual host comes in one
// piece, or not at all.
package definitions
