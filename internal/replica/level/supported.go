//go:build !nextlevel

package level

// Supported is the levels that this version supports.
var Supported = this
