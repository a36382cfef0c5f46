// Package admission manages the identity of a node in a cluster, and the admission of new nodes.
package admission
