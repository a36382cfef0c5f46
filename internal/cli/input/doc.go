// Package input reads the input of commands: NAME=VALUE pairs, files or standard input, and
// passwords, which are never arguments.
package input
