// Package grants is who may do what with ordinary keys: roles, the ranges of keys that they may read and write, and the users that have them.
//
// It is etcd's own store of roles (server/v3/auth) in the backend of the keyspace, without passwords and tokens: who somebody is, is told by the
// broker. What an etcd server keeps as a user's password is here the number of the user ([Holder.Number]): roles belong to one user of the broker,
// and not to another that gets its name later.
//
// [Grants.Apply] changes it and [Grants.Allow] judges entries of the log; both are called by the goroutine that applies the log, in its order, and
// depend on nothing but the entries, so that a replay gives the same state and the same refusals. The other methods may be called by anybody at
// any time; they tell what has been applied.
package grants
