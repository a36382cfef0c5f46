// Package slow tests that a client which stops reading or writing harms only itself: the others
// keep going, which is measured by what they get and not by a clock, and the broker's memory stays
// bounded.
package slow
