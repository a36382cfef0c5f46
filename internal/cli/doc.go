// Package cli is the command line. The commands are in packages below it, one per subject; each
// parses flags, calls one package of the broker, and prints the result. This package assembles
// them.
//
// Results go to standard output, logs and errors to standard error. The exit codes are those of
// package exitcode, and an error ends with a hint. Main keeps no state between calls, so tests call
// it like a function.
package cli
