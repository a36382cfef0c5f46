// Package exitcode has the exit codes of the program and the error of a wrong command line. Each
// package of commands lists its errors as verdicts: an exit code, and a hint for the user.
package exitcode
