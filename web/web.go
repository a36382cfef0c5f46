// Package web holds the files of the web page. There is no build step: the ES modules and style
// sheets are served as they are written. The folder vendor has three small third-party libraries
// with their licences. Package page serves the files.
package web

import "embed"

// Files are index.html, and what it loads from css, js and vendor.
//
//go:embed index.html favicon.svg css js vendor
var Files embed.FS
