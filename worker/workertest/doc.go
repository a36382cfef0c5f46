// Package workertest helps to test programs that use package worker. Memory implements worker.Jobs
// in memory, without a broker. Conformance checks that an implementation of worker.Jobs behaves as
// the interface documents.
package workertest
