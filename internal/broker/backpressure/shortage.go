package backpressure

// Reasons of alarms.
const (
	LowOnMemory = "low on memory"
	LowOnDisk   = "low on disk"
)

// MemoryLooks is how many looks in a row find memory over its limit before it is short: bodies are
// evicted within moments, and until then a Gate holds publishers back.
const MemoryLooks = 4

// Shortage decides when memory or disk is short. It holds until a tenth of the limit is to spare,
// so that the alarm does not go on and off under steady pressure.
type Shortage struct {
	MemoryLimit   int64  // bytes
	DiskFreeLimit uint64 // bytes, 0: none
	reason        string
	over          int // looks in a row that found memory over its limit
}

// Look returns what is short after one more look, "" when nothing is. full says that the log could
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
