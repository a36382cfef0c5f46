// Package keys has the commands about the ordinary keys of the etcd API.
package keys
