// Package protocoltest has checks that the tests of all protocols share. Its functions run on the
// goroutine of the test.
package protocoltest
