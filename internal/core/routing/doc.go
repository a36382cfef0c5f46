// Package routing holds the exchanges and bindings of one vhost and answers one question: which
// queues get this message?
//
// A Table is an immutable snapshot. Every change returns a new Table that shares almost all of its
// structure with the old one, so the broker keeps the current one behind an atomic pointer and
// publishers route without a lock. Old tables stay valid.
//
// Concurrency: any number of goroutines may read any tables. Changes, on whichever table, must be
// made by one goroutine at a time (or under one lock), because the newest version of a list appends
// to spare capacity that it shares with older ones.
//
// Invariants:
//   - bySource and byDest hold the same bindings, each once, under keys that spell out the whole
//     binding, so that the bindings of an exchange or a destination are one contiguous range;
//   - both ends of a binding exist: deleting an exchange or a queue deletes its bindings on either
//     side;
//   - a destination is at most once in each destination set, however many bindings lead
//     there.
//
// The persistent maps are copy-on-write B-trees of tidwall/btree. They were preferred to
// hashicorp/go-immutable-radix, which keeps a channel for each node and leaf and so needs much
// memory for 100,000 bindings in three maps, and because ordered string keys make it easy to list
// by prefix.
package routing
