// Package demo has the command that starts a broker, sends messages through it and shows where they
// arrived.
package demo
