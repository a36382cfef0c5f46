// Package policy serves RabbitMQ's paths for policies, operator policies, and the limits of virtual
// hosts and users.
package policy
