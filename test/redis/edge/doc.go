// Package edge compares the broker's answers over the Redis protocol with those of a real Redis 7:
// connections, transactions, channels, and malformed requests.
package edge
