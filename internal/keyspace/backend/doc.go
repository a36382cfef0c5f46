// Package backend keeps etcd's buckets in memory: it is the backend.Backend on which etcd's mvcc,
// lessor, alarm and auth stores run here. Durability comes from the broker's log and from the dumps
// that this package writes for checkpoints; nothing here touches a file, except Snapshot.
//
// The bucket of revisions only grows at its end and shrinks by compaction. Its records lie in
// chunks of a megabyte outside of the Go heap; a record is never moved or changed while a reader
// can see it. All other buckets are small sorted maps with copy on write.
//
// # Concurrency
//
// There is one writer at a time: the holder of the BatchTx. Readers take the last published view
// and never wait. A view is immutable: a reader sees the state at its beginning, even if a
// compaction deletes it. Memory of replaced chunks is freed when no reader is left that could see
// it.
//
// Invariants: keys of the bucket of revisions are put in increasing order; what a read returns is
// valid until its transaction ends.
package backend
