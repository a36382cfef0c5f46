// Package packaging tests what is published: the files of a release with its notices and its image,
// the contents of deploy/, and the Go packages that other modules import.
package packaging
