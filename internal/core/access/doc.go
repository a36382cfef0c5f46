// Package access is what a user may do, as pure functions: the patterns of permissions, the templates of topic
// permissions, and the forms in which passwords are kept. Who the users are, and asking these questions at the
// right places, is the engine's.
package access
