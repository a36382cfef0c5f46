// Package brokertest runs the fiveways binary as a separate process, for tests that need real
// clients, SIGKILL, or memory as the system sees it.
//
// A test package that uses it calls Main from its TestMain, so that the binary is built once and
// removed afterwards. BROKERTEST_BIN names a binary to use instead of building one. AMQP_URL names
// a running AMQP broker to test against, for tests that do not need to own the process.
package brokertest
