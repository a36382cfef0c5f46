// Package policies reads RabbitMQ's policies and operator policies, which are parameters of virtual hosts, and makes rules of them for the engine.
//
// A policy has a pattern for names, a definition, a priority, and says whether it is for queues, exchanges or both. Of the policies of a virtual host that match
// a name and mean something there, the one of highest priority counts, and of several the one whose name comes first. An operator policy is chosen by itself in the
// same way, and then bounds what the policy says: of a number in both the smaller one counts.
//
// What a queue's own arguments say stays: of a number in both the smaller one counts, all else the argument decides. Rules never change and may be asked from many goroutines.
package policies
