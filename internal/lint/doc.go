// Package lint holds tests of what a reader relies on: that packages import only lower ranks, that the core is pure, that every package
// explains itself, and that tests neither sleep nor need an assertion library. It has no code of its own.
package lint
