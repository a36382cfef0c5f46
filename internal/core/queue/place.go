package queue

import "math"

// Place is a message's place in the order of delivery: what is smaller comes first. Handles sort
// otherwise, for high priorities go first.
type Place uint64

// NoPlace is behind all places.
const NoPlace Place = math.MaxUint64

const turnOver = 0xff << 56

// PlaceOf is the place of a message; Handle is its inverse.
func PlaceOf(h Handle) Place    { return Place(h) ^ turnOver }
func (at Place) Handle() Handle { return Handle(at ^ turnOver) }
