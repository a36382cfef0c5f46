// Package cli is the command line. The commands are in packages below, one per subject; each parses
// flags, calls one package of the broker and prints. This package puts them together.
//
// Results go to standard output, logs and errors to standard error. The exit codes are those of
// package exitcode, and an error ends with a hint. Main keeps no state between calls, so tests call
// it like a function.
package cli
