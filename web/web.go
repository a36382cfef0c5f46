// Package web holds the files of the web page: ES modules and style sheets as they are written,
// since there is no build step, and in vendor three small third-party libraries with their
// licences. Package page serves them.
package web

import "embed"

// Files are index.html, and what it loads from css, js and vendor.
//
//go:embed index.html favicon.svg css js vendor
var Files embed.FS
