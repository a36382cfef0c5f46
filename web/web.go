// Package web holds the files of the web page: ES modules and style sheets as
// they were written, for there is no build step, and in vendor three small
// libraries of others with their licences. Package page serves them.
package web

import "embed"

// Files are index.html, and what it loads from css, js and vendor.
//
//go:embed index.html favicon.svg css js vendor
var Files embed.FS
