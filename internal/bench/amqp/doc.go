// Package amqp loads an AMQP 0-9-1 broker and measures it, with so little overhead of its own that
// it measures the broker.
//
// A publisher writes frames encoded once before the run; only the stamp in each body changes: 8
// bytes that name the run and 8 bytes with the time at which the message was due. A consumer walks
// the frames and reads the stamp, with one clock reading per read(). With a rate the load is an
// open loop: messages are due by the clock, however slowly the broker answers, and latency counts
// from the time a message was due, so a stall shows in the percentiles instead of slowing the load
// (the "coordinated omission" of closed loops).
//
// Each connection has a reading goroutine, a publisher also a writing one; Run ends them all before
// it returns.
package amqp
