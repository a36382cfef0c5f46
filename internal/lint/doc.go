// Package lint holds tests of rules that a reader relies on: packages import only lower ranks, the
// core is pure, every package is documented, comments are plain, and tests neither sleep nor need
// an assertion library. It has no code of its own.
package lint
