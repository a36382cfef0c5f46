// Package display prints the output of commands: tables, or JSON with the flag -o. Names and
// messages are untrusted, so their control characters never reach the terminal.
package display
