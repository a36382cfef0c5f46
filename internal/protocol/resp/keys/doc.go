// Package keys has the commands of the Redis protocol about keys of any type: DEL to DBSIZE.
//
// A key is the name of a queue that has messages. A queue without ready messages does not exist for
// these commands, although it does for other protocols.
//
// The package owns the descriptors, the grammar and the replies of these commands.
//
// Invariant: a user never learns the name of a queue that it may not read.
package keys
