// Package brokertest runs the fiveways binary as a process of its own, for tests that need a real
// one: real clients, SIGKILL, memory as the system sees it.
//
// A test package that uses it calls Main from its TestMain, so that the binary is built once and
// removed afterwards. BROKERTEST_BIN names a binary to use instead of building one; AMQP_URL names
// a running AMQP broker to test against where the test does not need to own the process.
package brokertest
