// Package inprocess implements worker.Jobs and semaphore.Backend on an engine in the same process,
// without a protocol.
//
// Each call uses an engine session of its own, with all permissions (broker.Operate); sessions are
// kept for later calls.
package inprocess
