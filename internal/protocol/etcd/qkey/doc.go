// Package qkey reads and writes the keys under which queues are seen: /q/{queue}/… and
// /queue/{queue}/…. It is pure.
//
//	/q/{queue}                              the queue itself
//	/q/{queue}/p/{key}                      what a producer puts: also producer, i, input
//	/q/{queue}/p/{client}/{key}             the same, with the sender; key may hold further slashes
//	/q/{queue}/{index}/{key}                a message that is not yet acknowledged
//	/q/{queue}/c/{client}                   a consumer: also consumer, and with a slash at the end
//	/q/{queue}/c/{client}/{index}/{key}     a message that this consumer holds
//
// The names of queues and clients are one segment each: a slash in one is written %2F, a percent
// sign %25, and any other byte may be percent-encoded. What follows the index or the client of a
// producer is taken as it is.
package qkey
