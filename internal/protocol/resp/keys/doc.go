// Package keys has the commands of the Redis protocol about keys of any type: DEL to DBSIZE.
//
// A key is the name of a queue with messages. A queue without ready messages exists for other
// protocols, but here it does not.
//
// The package owns the descriptors, the grammar and the replies of these commands.
//
// Invariant: a user never learns the name of a queue that it may not read.
package keys
