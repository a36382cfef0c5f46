// Package tutorials plays README.md, docs/tutorials and other pages to the real clients and
// servers: their programs are written to files, their commands are run, and what the pages show is
// what is printed. Each page has a broker of its own.
//
//	go test ./test/tutorials -rewrite
//
// writes what is printed into the pages.
package tutorials
