// Package keyspace implements the ordinary keys of the etcd protocol. It runs etcd's own
// multi-version store, lessor, alarms and roles as a state machine that applies the broker's log.
//
// A change is an etcdserverpb.InternalRaftRequest. It is recorded as one entry of the log. Once the
// entry is durable, one goroutine applies it with etcd's own code, in log order, and its caller
// gets the result. The same entries lead to the same state, independent of the clock: a lease
// expires by a LeaseRevoke that is recorded. Reads go to the store directly. They are linearizable,
// because a change is applied, and its result returned, only when it is durable.
//
// The state is in memory (package backend). A checkpoint is a dump of its buckets, see
// docs/format/keyspace.md.
//
// # Concurrency
//
// All methods of Store may be called from any goroutine after Start, except those of a state
// machine (Apply, Freeze, Restore), which only the broker calls. The store runs these goroutines:
// one that records the revocation of expired leases, a few that it starts for that, and etcd's own
// (the lessor's clock, slow watchers, compaction), which begin when the store is first used. Close
// ends them.
package keyspace
