// Package inprocess is worker.Jobs and semaphore.Backend on an engine in the same process: calls of the engine, no protocol between.
//
// Each call has a session of the engine to itself while it lasts, one that may do everything (broker.Operate); sessions are kept for the next calls.
package inprocess
