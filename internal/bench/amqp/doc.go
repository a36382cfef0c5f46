// Package amqp benchmarks an AMQP 0-9-1 broker. Its own overhead is so small that it measures the
// broker.
//
// A publisher writes frames that were encoded once before the run. Only the stamp in each body
// changes: 8 bytes that identify the run and 8 bytes with the time at which the message was due. A
// consumer parses the frames and reads the stamps, with one clock reading per read(). With a rate,
// the load is an open loop: messages are due by the clock, however slowly the broker answers, and
// latency counts from the time at which a message was due. So a stall shows in the percentiles
// instead of slowing down the load (the "coordinated omission" of closed loops).
//
// Each connection has a reading goroutine, and a publisher also has a writing goroutine. Run ends
// all of them before it returns.
package amqp
