// Package store keeps the log of a node on disk: entries of all shards in one sequence of segments, made durable by
// one goroutine that writes all that gathered during the last fsync and syncs once, and the checkpoints of the shards.
//
// # Use
//
// Open, then for each shard Checkpoint, Retain for the bodies it still refers to, Replay from its index, and only then
// Append. Entries of a shard come from one goroutine, with indexes that count up by one. Retain and Release count the
// references that queues hold to the bodies of an entry; Forget deletes segments that nobody refers to and that
// checkpoints cover. Forget and Sparse must not be called before the references are restored.
//
// # Concurrency
//
// All methods may be called concurrently, but a Reader belongs to one goroutine and WriteCheckpoint is called by one
// goroutine per shard at a time. Goroutines: the committer (commit.go), the only one that writes segments, except that Rewrite replaces a sealed one and
// that callers of Commit take its turn (turn.go); with SyncOS one more while it syncs behind the writes (behind.go). Lock order: housekeeping -> files.mu -> Store.mu. No file is read or written under Store.mu.
//
// # Failure
//
// A full disk stops writing until there is room again. Any other failure of a write, and any failure of a sync, stops
// it for ever, for nobody knows what is on the disk then: reading goes on, and a restart decides.
package store
