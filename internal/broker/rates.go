package broker

// Rates bound what is published, 0 = not.
type Rates struct {
	Messages int64 // per second
	Bytes    int64 // of bodies, per second
}
