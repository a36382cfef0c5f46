// Package duel sends the same commands to a real Redis 7 and to the broker, over several
// connections, and compares every reply: type, order and bytes. The packages beside it, one per
// family of commands, have the scripts and generate random sequences.
//
// A line of a script is what one connection sends in one write: commands separated by ";", after
// "b> " for a connection other than "1". A word is written as it is or as a Go string; the word raw
// before a Go string sends it as it is. A line "# sorted" before a command says that the order of
// its reply is arbitrary; "# expires" that it waits until its timeout. An empty line ends a script:
// the next one starts with no keys and with new connections.
//
// REDIS_SEED selects other random sequences than the usual ones, and REDIS_TIMES multiplies their
// number. Without a redis-server the tests are skipped; with CI=true they fail.
package duel
