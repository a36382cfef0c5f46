// Package page serves the web page, the files of package web, at the root of the
// HTTP API. They tell nothing of the broker and need no login; the page logs in
// by asking the API, as every other client does.
//
// The page itself is asked for again each time (ETag). What it loads lies below
// a path that names the content of all files, so browsers keep it for good and
// never mix files of two versions.
package page
