//go:build !nextlevel

package level

// Supported is the range of levels that this version supports.
var Supported = this
