// Package workertest helps to test programs that use package worker. Memory is worker.Jobs in
// memory, without a broker; Conformance checks that an implementation of worker.Jobs does what the
// interface documents.
package workertest
