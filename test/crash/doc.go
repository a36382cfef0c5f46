// Package crash repeatedly kills brokers under load, and checks from the outside that they kept
// their promises. Package loads has the clients, and package history has the records of what they
// saw and the rules that these must satisfy.
//
// TestClusterFaults runs clients against a cluster of three nodes and injects faults other than
// kills (faultkinds_test.go). A round ends when the fault is over, all nodes work again and all
// have the same state.
package crash
