// Package floor is the least that a server of each protocol has to do: null servers, which read
// requests and answer them with the project's own codecs and connections, and have no queue.
//
// What a request would keep goes to a Disk before the answer: one write of the same bytes, and one
// fdatasync for all that wait at that time. A broker can get near to the figures of a null server;
// it cannot pass them without a cheaper codec, socket or disk.
//
// Answers are valid and fixed: nothing that was kept can be asked for. What is published over AMQP
// or put into etcd goes to the consumers and watches that there are at that time.
package floor
