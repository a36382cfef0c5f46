// Package replica replicates the log of a node to the other nodes of a cluster: it drives a RawNode
// of go.etcd.io/raft over the replicated log of a store (store.RaftLog). Elections, log matching,
// commit, membership and ReadIndex are the library's; this package stores the entries and decides
// what a leader may answer.
//
// # Parts
//
// core is the node as a state machine with one caller. Its inputs are events (a tick, a message, a
// proposal, an entry that became durable), its outputs are effects (messages, appends, entries to
// apply). It has no goroutine, no lock and no clock of its own, so sim_test.go simulates whole
// clusters of it from a seed. Replica gives it a goroutine, a mailbox and a ticker. disk implements
// the library's storage interface on the store.
//
// # Order
//
// Term, vote and entries are durable before any message that promises them is sent: the library
// attaches those messages to the append, and core sends them when it is done. A leader has already
// applied what it proposes; entries of others are applied when they are committed.
//
// # Leadership
//
// A Log belongs to one term of leadership. It begins when all earlier entries are applied, and ends
// for good: appends that are open then get store.ErrLost. Its holder discards its state, restores
// it from what is committed in the store, and continues as a follower. Leads is a lease: it reports
// true only while no other node can become leader, because a quorum has answered this node
// recently. A node that has just started gives no vote until older leases have run out.
//
// While the holder restores, core begins no append of entries, and so cuts none: the state that is
// discarded names entries by their indexes, for checkpoints, bodies and cleaning, and another
// leader's entries would have the same ones. Appends that were begun before finish. The node still
// votes and answers heartbeats, but acknowledges no entries and does not stand for election. What
// waits in the store for a commit gets store.ErrLost at the end of the leadership, because the
// restoring waits for it.
//
// # Snapshots
//
// A node that needs entries from before the leader's log gets the leader's store as it is after one
// entry (store.RaftLog.Snapshot). Raft asks for it, core has it prepared beside its own work, and
// it goes over a connection of its own, one at a time. The other node receives it next to what it
// has, verifies all of it, and only then is Raft told of it. When Raft takes it, the folder is
// switched, and the replica ends with ErrInstalled: its store is opened again, as after a crash.
//
// # What is kept of the log
//
// The leader looks how far the nodes that are up have come, and proposes an entry that says up to
// where the log is not needed (spare): whole segments, and all that is further back than
// Options.KeepLog bytes. All nodes follow it, so the next leader has what the others need. A node
// that is down, or further behind, gets a snapshot. The store removes what checkpoints cover.
//
// # Checks
//
// The leader may log what a part of its state hashes to, with the place where that part stands: the
// last entry of it, and of what it depends on (Log.Check). The other nodes compare their own at the
// same place; one that differs stops with ErrDiverged, and is to be replaced.
//
// # Members
//
// A node joins as a learner (Add), and the leader makes it a voter once it has caught up: two at a
// time when there is one voter, so that there are never two. Remove refuses what would leave two.
//
// The log says where the members are, too: the change that adds a node carries its address, and
// another one when that changes. Each node has the addresses and the highest id that was ever given
// (membership), by the log or a snapshot. An id up to that one is never given again.
//
// # Levels
//
// What kinds of entries the log may have is its level (package level), a part of the membership.
// The leader raises it by a change of the members as soon as all of them support the next one. What
// logs a new kind of entry asks for the level first. A node refuses to append such a change, and to
// start or take a snapshot behind one, when it does not support the level: so nothing that it does
// not know comes into its log, whatever others believe of it.
//
// A node that is behind may be led by one that it does not know yet, whose id is above all that it
// knows: package transport lets such a node in.
package replica
