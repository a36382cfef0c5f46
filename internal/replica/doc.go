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
// A Log belongs to one term of leadership. It begins when all earlier entries are applied, and it
// never resumes: appends pending at its end get store.ErrLost. Its holder discards its state,
// restores it from what is committed in the store, and continues as a follower. Leads is a lease:
// it reports true only while no other node can become leader, because a quorum has answered this
// node recently. A node that has just started gives no vote until older leases have run out.
//
// While the holder restores, core begins no append of entries, and so cuts none: the discarded
// state names entries by their indexes, for checkpoints, bodies and cleaning, and another leader's
// entries would have the same indexes. Earlier appends finish. The node still votes and answers
// heartbeats, but acknowledges no entries and does not stand for election. Operations of the store
// that wait for a commit get store.ErrLost at the end of the leadership, because the restore waits
// for them.
//
// # Snapshots
//
// A node that needs entries from before the leader's log gets a snapshot: the leader's store as of
// one entry (store.RaftLog.Snapshot). When Raft asks for a snapshot, core has it prepared in the
// background and sent over a separate connection, one at a time. The other node receives it next to
// its current files and verifies all of it before it tells Raft. When Raft accepts it, the node
// switches directories, and the replica stops with ErrInstalled: its store must be opened again, as
// after a crash.
//
// # Which part of the log is kept
//
// The leader checks the progress of the live nodes and proposes an entry with the index up to which
// the log is no longer needed (spare): whole segments, and everything further back than
// Options.KeepLog bytes. All nodes apply it, so the next leader has the entries that the others
// need. A node that is down, or further behind, gets a snapshot. The store removes entries that
// checkpoints cover.
//
// # Checks
//
// The leader may log the hash of a part of its state, with the place of that part: its last entry,
// and that of what it depends on (Log.Check). The other nodes compare their own hashes at the same
// place. A node with another hash stops with ErrDiverged and must be replaced.
//
// # Members
//
// A node joins as a learner (Add), and the leader makes it a voter once it has caught up; with one
// voter it makes two at a time, so that there are never two voters. Remove refuses to leave two.
//
// The log also records the addresses of the members: the change that adds a node has its address,
// and another change follows when it changes. Each node learns the addresses and the highest id so
// far (membership) from the log or a snapshot. Ids up to the highest are never reused.
//
// # Levels
//
// The level of the log (package level) determines which kinds of entries it may have. It is part of
// the membership. The leader raises it by a membership change as soon as all members support the
// next one. Code that logs a new kind of entry checks the level first. A node that does not support
// a level refuses to append the change that raises the log to it, and to start or accept a snapshot
// after that change. So no entry unknown to it enters its log, whatever the other nodes assume.
//
// A node that is behind may be led by a node that it does not know yet, whose id is above all ids
// that it knows. Package transport admits such a node.
package replica
