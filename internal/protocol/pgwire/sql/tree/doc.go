// Package tree answers questions about parse trees that need nothing but the tree: the names in it,
// its constants as text, what it mentions, whether two trees are the same.
//
// It has no state. It changes no tree, because trees are cached and shared (see package parse).
package tree
