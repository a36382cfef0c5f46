// Package packaging tests the contents of deploy/: the Debian package, the systemd unit, the
// Dockerfile, the Compose file and the chart for Kubernetes.
package packaging
