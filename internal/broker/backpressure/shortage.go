package backpressure

// Reasons of alarms.
const (
	LowOnMemory = "low on memory"
	LowOnDisk   = "low on disk"
)

// MemoryLooks is how many checks in a row must find memory over its limit: bodies are evicted
// within moments, and until then a Gate holds publishers back.
const MemoryLooks = 4

// Shortage decides whether memory or disk is short. A shortage lasts until a tenth of the limit is
// to spare, so that the alarm does not flap under steady pressure.
type Shortage struct {
	MemoryLimit   int64  // bytes
	DiskFreeLimit uint64 // bytes, 0: none
	reason        string
	over          int // checks in a row that found memory over its limit
}

// These distances from the limits are more than a broker usually takes within a second.
const (
	plentyOfMemory = 256 << 20
	plentyOfDisk   = 8 << 30
)

// Far reports whether memory and disk are so far from their limits that the next check can wait for
// a second.
func (s *Shortage) Far(memory int64, free uint64) bool {
	return s.reason == "" && s.MemoryLimit-memory > plentyOfMemory && free > s.DiskFreeLimit && free-s.DiskFreeLimit > plentyOfDisk
}

// Look checks once more and returns what is short, "" if nothing is. full says that the log could
// not be written for lack of space.
func (s *Shortage) Look(memory int64, free uint64, full bool) string {
	most, least := s.MemoryLimit, s.DiskFreeLimit
	switch s.reason {
	case LowOnMemory:
		most -= most / 10
	case LowOnDisk:
		least += least / 10
	}
	if s.over++; memory <= most {
		s.over = 0
	}
	switch {
	case full || free < least:
		s.reason = LowOnDisk
	case s.over >= MemoryLooks:
		s.reason = LowOnMemory
	default:
		s.reason = ""
	}
	return s.reason
}
