// Package keys serves the ordinary keys of etcd's API over HTTP, for operators: it checks only for
// the tag administrator, not the roles of etcd's users. Queues and semaphores have paths of their
// own, so the keys that stand for them in etcd's API are not served here.
package keys
