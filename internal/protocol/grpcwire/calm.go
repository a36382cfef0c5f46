package grpcwire

// What a client may do for nothing, at once and per second. Real clients stay far below: one that
// gives up 10,000 calls at once, say, opens them again slower.
const (
	calmBurst, calmRate   = 10_000, 1_000 // pings, settings, empty data, priorities, unknown frames
	resetBurst, resetRate = 20_000, 2_000 // calls that it resets
)
