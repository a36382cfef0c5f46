package grpcwire

// Rate limits for frames that cost a client nothing. Real clients stay far below them: a client
// that resets 10,000 calls at once, for example, opens them again more slowly.
const (
	calmBurst, calmRate   = 10_000, 1_000 // pings, settings, empty data, priorities, unknown frames
	resetBurst, resetRate = 20_000, 2_000 // calls that it resets
)
