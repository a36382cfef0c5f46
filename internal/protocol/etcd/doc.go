// Package etcd serves the etcd v3 API: ordinary keys on a [keyspace.Store], the broker's queues as
// keys below /q/ and /queue/, and its semaphores as keys below /semaphore/.
//
// One port speaks HTTP/2 with the gRPC services KV, Watch, Lease, Auth, Maintenance, Cluster, Lock,
// Election and Health, and HTTP/1 with /version, /health, /livez, /readyz and /metrics; the first
// bytes of a connection decide which ([Server.open]). The services are registered at a transport
// that knows nothing about etcd (transport.go).
//
// A call passes through these files: intercept.go (authentication, counters, shutdown), then its
// service (kv.go, lease.go, …). The service checks the request as etcd does (kvcheck.go), checks
// the caller's permissions (access.go), passes virtual keys to their families (virtualkeys.go) and
// all others to the store, and maps errors to etcd's (errors.go).
//
// Methods of services run on goroutines of the transport, any number at a time. Between calls the
// package keeps no state but counters.
package etcd
