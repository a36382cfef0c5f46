// Package store keeps the log of a node on disk: the entries of all shards in one sequence of
// segments, and the checkpoints of the shards. One goroutine at a time writes all entries that came
// during the last fsync, and syncs once for all of them (group commit).
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
// The folder of a node of a cluster has a RaftLog (FoundReplica converts the folder of a single
// node), through which all entries come: one entry of Raft is one group. In this documentation
// durable then means committed.
//
// # Reading
//
// A read counts only if its segment was not cut, replaced or deleted meanwhile; otherwise the
// reader looks up the entry again (files.go). The store forgets what it will cut before it changes
// a byte of it. So Rewind waits for no reader, and committed entries can be read at any time.
// Uncommitted entries are read only by the code that has appended them, and by the goroutine that
// cuts them.
//
// # Concurrency
//
// All methods may be called concurrently, except that a Reader belongs to one goroutine and that
// WriteCheckpoint must not run twice at a time for one shard. Goroutines: the committer
// (commit.go), the only one that writes segments, except that Rewrite replaces a sealed one and
// that a caller of Commit may become the leader of a commit (leader.go); with SyncOS one more,
// which syncs in the background (behind.go). Lock order: housekeeping -> files.mu -> Store.mu. No
// file is read or written under Store.mu.
//
// # Failure
//
// When the disk is full, writing stops until there is space again. Any other failed write, and any
// failed sync, stops writing for ever, because it is then unknown what is on the disk: reading
// continues, and a restart finds out.
package store
