// Package crash kills brokers under load, again and again, and checks from the outside that they
// kept their promises. Package loads has the clients, package history what these record, and the
// rules for it.
//
// TestClusterFaults has clients work with a cluster of three nodes, to which other things happen
// than kills (faultkinds_test.go). A round ends with the fault, when all nodes work again and have
// the same state.
package crash
