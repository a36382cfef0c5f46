// Package store keeps the log of a node on disk: the entries of all shards in one sequence of
// segments, and the checkpoints of the shards. One goroutine at a time writes all that gathered
// during the last fsync and syncs once (group commit).
//
// # Use
//
// Open, then for each shard Checkpoint, Retain for the bodies it still refers to, Replay from its
// index, and only then Append. Entries of a shard come from one goroutine, with consecutive
// indexes. Retain and Release count the references that queues hold to the bodies of an entry;
// Forget deletes segments without references that checkpoints cover. Forget and Sparse must not be
// called before the references are restored.
//
// # Replicas
//
// The folder of a node of a cluster has a RaftLog (FoundReplica makes one of the folder of a single
// node), and entries come through it alone: one entry of Raft is one group. What is said of durable
// entries above goes for committed ones then. Nothing but its tests uses it yet: the broker appends
// to a Store, and there is no way yet to bring a replica the checkpoints of another one.
//
// # Concurrency
//
// All methods may be called concurrently, except that a Reader belongs to one goroutine and that
// WriteCheckpoint must not run twice at a time for one shard. Goroutines: the committer
// (commit.go), the only one that writes segments, except that Rewrite replaces a sealed one and
// that a caller of Commit may lead (leader.go); with SyncOS one more that syncs behind the writes
// (behind.go). Lock order: housekeeping -> files.mu -> Store.mu. No file is read or written under
// Store.mu.
//
// # Failure
//
// A full disk stops writing until there is space again. Any other failed write, and any failed
// sync, stops it for ever, because what is on the disk is unknown then: reading goes on, and a
// restart decides.
package store
