// Package packaging tests the contents of deploy/: the Debian package, the systemd unit and the
// Dockerfile.
package packaging
