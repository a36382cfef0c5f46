// Package page serves the web page, the files of package web, at the root of the HTTP API. They
// contain no data of the broker and need no login; the page logs in through the API like any other
// client.
//
// The page itself is revalidated each time (ETag). The files that it loads are below a path that
// contains a hash of all files, so browsers cache them permanently and never mix files of two
// versions.
package page
