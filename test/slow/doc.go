// Package slow tests that a client that stops reading or writing harms only itself: other clients
// keep receiving, which is measured by what they receive and not by a clock, and the broker's
// memory stays bounded.
package slow
