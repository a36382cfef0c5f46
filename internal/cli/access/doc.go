// Package access has the commands about users, virtual hosts and permissions.
package access
