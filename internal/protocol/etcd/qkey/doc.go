// Package qkey parses and builds the keys that represent queues: /q/{queue}/… and /queue/{queue}/….
// It has no state and no side effects.
//
//	/q/{queue}                              the queue itself
//	/q/{queue}/p/{key}                      what a producer puts: also producer, i, input
//	/q/{queue}/p/{client}/{key}             the same, with the sender; key may hold further slashes
//	/q/{queue}/{index}/{key}                a message that is not yet acknowledged
//	/q/{queue}/c/{client}                   a consumer: also consumer, and with a slash at the end
//	/q/{queue}/c/{client}/{index}/{key}     a message that this consumer holds
//
// The names of queues and clients are one segment each: a slash in a name is written %2F, a percent
// sign %25, and any other byte may be percent-encoded. The rest of a key, after the index or a
// producer's client, is used unchanged.
package qkey
