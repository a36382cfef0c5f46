// Package duel plays the same commands to a real Redis 7 and to the broker, over several
// connections, and compares every reply: kind, order and bytes. The families of commands beside it
// bring the scripts and make up random sequences.
//
// In a script a line is what one connection sends in one write: commands with ";" between them, and
// "b> " before them where it is another connection than "1". A word is written as it is or as a Go
// string; the word raw stands before a Go string that is sent as it is. A line "# sorted" before a
// command says that its reply has an order of its own; "# expires" that it waits in vain. An empty
// line ends a script: the next begins with nothing there, and with new connections.
//
// REDIS_SEED and REDIS_TIMES choose other random sequences than the usual ones, and so many times
// as many. Without a redis-server the tests skip, with CI=true they fail.
package duel
