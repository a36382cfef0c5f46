// Package keys serves the ordinary keys of etcd's API over HTTP, for those who operate the broker: the roles of etcd's users are not asked here, only
// the tag administrator. Queues and semaphores have paths of their own, so the keys under which etcd's API shows them are not served.
package keys
