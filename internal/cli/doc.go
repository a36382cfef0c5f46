// Package cli is the command line: one file per command, each of which parses flags, calls one package below and prints.
//
// Results go to standard output, logs and errors to standard error. The exit code is one of the constants in exit.go,
// and an error ends with the way out of it. Main keeps no state between calls, so tests run it like a function.
package cli
