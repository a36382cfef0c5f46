// Package backend keeps etcd's buckets in memory. It implements the backend.Backend on which etcd's
// mvcc, lessor, alarm and auth stores run here. Durability comes from the broker's log and from the
// dumps that this package writes for checkpoints. Nothing here touches a file, except for Snapshot.
//
// The bucket of revisions grows only at its end and shrinks by compaction. Its records are in
// chunks of a megabyte outside of the Go heap. A record is never moved or changed while a reader
// can see it. All other buckets are small, and are sorted maps with copy-on-write.
//
// # Concurrency
//
// There is one writer at a time: the holder of the BatchTx. Readers use the last published view and
// never wait. A view is immutable: a reader sees the state at the start of its transaction, even if
// a compaction deletes it. The memory of replaced chunks is freed once no reader can see it.
//
// Invariants:
//
//   - Keys of the bucket of revisions are put in increasing order.
//   - The result of a read is valid until its transaction ends.
package backend
