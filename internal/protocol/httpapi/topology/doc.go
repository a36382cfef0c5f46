// Package topology serves exchanges, queues and bindings, and what RabbitMQ's
// management API has about the node as a whole: parameters, names, features.
//
// Who sees a virtual host sees what is in it; what a caller may change there is
// asked of the engine's session, as for a client of AMQP.
package topology
