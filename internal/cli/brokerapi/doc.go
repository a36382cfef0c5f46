// Package brokerapi is a client of the broker's HTTP API for commands: over the admin socket of a
// data folder, by opening the folder if no broker runs on it, or over the network at --url. An
// error answer becomes an error in plain English with a hint.
package brokerapi
