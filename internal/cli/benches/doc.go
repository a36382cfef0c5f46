// Package benches has the commands that load and measure a server, over each protocol.
package benches
