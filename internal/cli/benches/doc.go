// Package benches has the commands that put load on a server over each protocol and measure it.
package benches
