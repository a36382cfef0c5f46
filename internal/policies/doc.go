// Package policies reads RabbitMQ's policies and operator policies, which are parameters of virtual
// hosts, and turns them into rules for the engine.
//
// A policy has a pattern for names, a definition, a priority, and applies to queues, exchanges or
// both. Of the policies of a virtual host that match a name and its type, the one with the highest
// priority applies, and among equals the one whose name comes first. An operator policy is selected
// separately in the same way, and then limits the policy: if a number is in both, the smaller one
// applies.
//
// A queue's own arguments stay effective: if a number is in both, the smaller one applies,
// otherwise the argument. Rules are immutable and may be used by many goroutines.
package policies
