// Package floor provides null servers: the least that a server of each protocol has to do. They
// read requests and answer them with the project's own codecs and connections, but have no queues.
//
// The data of a request goes to a Disk before the answer: one write of the same bytes, and one
// fdatasync for all requests that wait at that time. A broker can approach the figures of a null
// server. It cannot exceed them without a cheaper codec, socket or disk.
//
// Answers are valid and fixed: stored data cannot be read back. What is published over AMQP or put
// into etcd goes to the consumers and watches that exist at that time.
package floor
