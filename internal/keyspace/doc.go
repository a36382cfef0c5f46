// Package keyspace is the ordinary keys of the etcd protocol: etcd's own multi-version store,
// lessor, alarms and roles, as a state machine that is told by the broker's log.
//
// A change is an etcdserverpb.InternalRaftRequest. It is recorded as one entry of the log, and when
// it is durable it is applied by etcd's own code, in the order of the log, by one goroutine; then
// its caller gets the result. The same entries give the same state: time never decides here. An
// expired lease is a LeaseRevoke that was recorded. Reads go to the store directly: what a result
// told is durable and applied, so they are linearizable.
//
// The state lives in memory (package backend). A checkpoint is a dump of its buckets,
// docs/format/keyspace.md.
//
// # Concurrency
//
// All methods of Store may be called from any goroutine after Start, those of a state machine
// (Apply, Freeze, Restore) by the broker alone. Goroutines: one that records the revocation of
// leases that expired, a few that it starts for that, and etcd's own (the lessor's clock, watchers
// that catch up, compaction). Close ends them.
package keyspace
