// Package protocoltest has what the tests of every protocol check alike. Its functions run on the
// goroutine of the test.
package protocoltest
