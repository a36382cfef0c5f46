// Package store keeps the log of a node on disk: the entries of all shards in one sequence of
// segments, and the checkpoints of the shards. One goroutine at a time writes all entries that
// arrived during the last fsync, and syncs once for all of them (group commit).
//
// # Use
//
// Call Open, then for each shard Checkpoint, Retain for the bodies its state refers to, and Replay
// from the checkpoint's index. Only then call Append. One goroutine appends a shard's entries, with
// consecutive indexes. Retain and Release count the references that queues hold to the bodies of an
// entry. Forget deletes segments that have no references and are covered by checkpoints. Forget and
// Sparse must not be called before the references are restored.
//
// # Replicas
//
// The directory of a cluster node has a RaftLog, through which all entries are appended: one Raft
// entry is one group. FoundReplica converts the directory of a single node. In a replica, "durable"
// in this documentation means committed.
//
// # Reading
//
// A read is valid only if its segment was not cut, replaced or deleted meanwhile. Otherwise the
// reader looks up the entry again (files.go). The store forgets entries before it cuts them from
// the file, so Rewind waits for no reader, and committed entries can be read at any time.
// Uncommitted entries are read only by the code that appended them and by the goroutine that cuts
// them.
//
// # Concurrency
//
// All methods may be called concurrently, with two exceptions: a Reader belongs to one goroutine,
// and WriteCheckpoint must not run twice at a time for one shard. Only the committer (commit.go)
// writes segments, except that Rewrite replaces a sealed one. It has its own goroutine, but a
// caller of Commit may lead a commit instead (leader.go). With SyncOS another goroutine syncs in
// the background (behind.go). Lock order: housekeeping -> files.mu -> Store.mu. No file is read or
// written under Store.mu.
//
// # Failure
//
// While the disk is full, or the process has too many open files, writing pauses. Any other failed
// write, and any failed sync, stops writing for good, because the contents of the disk are then
// unknown. Reading continues, and a restart finds out what was written.
package store
