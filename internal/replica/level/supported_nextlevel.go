//go:build nextlevel

package level

// Supported is the levels of the version that tests take for the next one.
var Supported = Range{Oldest: this.Newest, Newest: this.Newest + 1}
