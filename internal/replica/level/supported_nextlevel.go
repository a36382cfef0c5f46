//go:build nextlevel

package level

// Supported is the range of levels of the version that tests use as the next one.
var Supported = Range{Oldest: this.Newest, Newest: this.Newest + 1}
