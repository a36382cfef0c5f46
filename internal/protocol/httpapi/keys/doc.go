// Package keys serves the ordinary keys of etcd's API over HTTP, for operators: it checks the tag
// administrator only, not the roles of etcd's users. Queues and semaphores have paths of their own,
// so the keys under which etcd's API shows them are not served.
package keys
