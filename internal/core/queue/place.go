package queue

import "math"

// Place is a message's position in the order of delivery; smaller places come first. Handles sort
// differently, because high priorities come first.
type Place uint64

// NoPlace is after all places.
const NoPlace Place = math.MaxUint64

const turnOver = 0xff << 56

// PlaceOf returns the place of a message; Handle is its inverse.
func PlaceOf(h Handle) Place    { return Place(h) ^ turnOver }
func (at Place) Handle() Handle { return Handle(at ^ turnOver) }
