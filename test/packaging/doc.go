// Package packaging tests what deploy/ holds: the Debian package, the unit of systemd and the
// Dockerfile.
package packaging
