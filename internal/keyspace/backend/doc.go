// Package backend keeps etcd's buckets in memory: it is the backend.Backend on which etcd's mvcc, lessor, alarm and auth stores run here. What is
// durable is the broker's log and the dumps this package writes for its checkpoints; nothing here touches a file, but for Snapshot.
//
// The bucket of revisions only grows at its end and shrinks by compaction. Its records lie in chunks of a megabyte outside of the collector's
// heap; a record is never moved or changed while somebody can see it. All other buckets are small sorted maps with copy on write.
//
// # Concurrency
//
// One writer at a time: whoever holds the BatchTx. Readers take the last published view and never wait. A view is immutable: a reader sees what was
// there when it began, also while a compaction deletes it. Memory of replaced chunks is given back when no reader is left that could see it.
//
// Invariants: keys of the bucket of revisions are put in increasing order; what a read returns is valid until its transaction ends.
package backend
