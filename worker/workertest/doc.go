// Package workertest helps to test programs that use package worker: Memory is a broker's jobs in
// memory, without a broker; Conformance checks that an implementation of worker.Jobs means what the
// interface says.
package workertest
