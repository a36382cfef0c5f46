// Package tutorials plays README.md and docs/tutorials to the real clients and servers: their
// programs are written to files, their commands are run, and what the pages show is what is
// printed. All pages share one broker.
//
//	go test ./test/tutorials -rewrite
//
// writes what is printed into the pages.
package tutorials
