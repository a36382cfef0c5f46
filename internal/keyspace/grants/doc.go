// Package grants implements access control for ordinary keys: roles, the key ranges that a role may
// read and write, and the users that have the role.
//
// It runs etcd's own store of roles (server/v3/auth) on the backend of the keyspace, without
// passwords and tokens: the broker authenticates users. The field that holds a user's password on
// an etcd server here holds the number of the broker's user ([Holder.Number]), so roles belong to
// one user of the broker, and not to a later user with the same name.
//
// [Grants.Apply] changes the roles and [Grants.Allow] checks entries of the log. Both are called by
// the goroutine that applies the log, in log order, and depend on the entries alone, so a replay
// gives the same state and the same errors. The other methods may be called by any goroutine at any
// time; they show what has been applied.
package grants
