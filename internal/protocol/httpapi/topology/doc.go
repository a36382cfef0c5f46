// Package topology serves exchanges, queues and bindings, and RabbitMQ's management paths about the
// node as a whole: parameters, names, feature flags.
//
// A user with access to a virtual host sees everything in it; changes are checked by the engine's
// session, as for an AMQP client.
package topology
