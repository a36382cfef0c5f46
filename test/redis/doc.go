// Package redis compares the broker with a real Redis 7: both are sent the same commands over several connections, and every reply must be the same
// byte for byte, in both versions of the protocol. testdata has scripts; random sequences come beside them.
//
// In a script each line is a command, with "2>" before it for another connection than the first. A line "# sorted" before a command says that its
// reply has an order of its own; "# expires" that it waits in vain. An empty line ends a script: the next begins with nothing there.
package redis
