// Package replica makes the log of one node the log of several: it drives a RawNode of
// go.etcd.io/raft over the replicated log of a store (store.RaftLog). Elections, log matching,
// commit, membership and ReadIndex are the library's; here are the bytes, and what a leader may
// say.
//
// # Parts
//
// core is the node as a state machine with one caller: events in (a tick, a message, a proposal, an
// entry that is durable), effects out (messages, appends, entries to apply). It has no goroutine,
// no lock and no clock of its own, so that sim_test.go drives whole clusters of it by a seed.
// Replica gives it a goroutine, a mailbox and a ticker. disk is what the library reads of the
// store.
//
// # Order
//
// Term, vote and entries are durable before any message that promises them leaves: the library
// attaches those messages to the append, and core sends them when it is done. What a leader
// proposes it has applied already; what came from others is applied when it is committed.
//
// # Reigns
//
// A Log belongs to one leadership. It begins when all that came before is applied, and ends for
// good: what is open then gets ErrLost. Its holder throws its state away, restores it from
// what is committed in the store, and applies from there as a follower. Leads is a lease: a quorum
// was with this node a moment ago, and no other node leads before it has run out. A node that has
// just started gives no vote until leases from before are over.
//
// # Not connected yet
//
// No broker uses this package, and no command starts it. There are no snapshots: a node that needs
// entries from before a leader's log waits in vain. Package transport has the connections, and
// nothing hands its messages over.
package replica
