package backpressure

import (
	"math"
	"testing"
)

// An alarm neither comes for a moment's peak of memory nor goes on and off at its limit.
func TestShortage(t *testing.T) {
	s := Shortage{MemoryLimit: 100, DiskFreeLimit: 1000}
	for i, step := range []struct {
		memory int64
		free   uint64
		full   bool
		looks  int
		want   string
	}{
		{110, 2000, false, MemoryLooks - 1, ""},
		{100, 2000, false, 1, ""},
		{110, 2000, false, MemoryLooks - 1, ""},
		{110, 2000, false, 1, LowOnMemory},
		{91, 2000, false, 10, LowOnMemory},
		{90, 2000, false, 1, ""},
		{100, 1000, false, 10, ""},
		{90, 999, false, 1, LowOnDisk},
		{90, 1099, false, 10, LowOnDisk},
		{101, 1099, false, 10, LowOnDisk},
		{101, 1100, false, 1, LowOnMemory},
		{110, 999, false, 1, LowOnDisk},
		{90, 1100, false, 1, ""},
		{90, 1000, false, 10, ""},
		{90, 2000, true, 1, LowOnDisk},
		{90, 2000, false, 1, ""},
	} {
		for range step.looks - 1 {
			if s.Look(step.memory, step.free, step.full) != step.want {
				t.Errorf("step %d ends early", i)
			}
		}
		if have := s.Look(step.memory, step.free, step.full); have != step.want {
			t.Errorf("step %d: %q, want %q", i, have, step.want)
		}
	}
}

func TestNoDiskFreeLimit(t *testing.T) {
	s := Shortage{MemoryLimit: 100}
	if have := s.Look(0, 0, false); have != "" {
		t.Errorf("no limit, and %q", have)
	}
}

func TestFar(t *testing.T) {
	s := Shortage{MemoryLimit: 25 + plentyOfMemory, DiskFreeLimit: 1000}
	for _, c := range []struct {
		memory int64
		free   uint64
		want   bool
	}{
		{24, 1001 + plentyOfDisk, true},
		{25, 1001 + plentyOfDisk, false},
		{0, 1000 + plentyOfDisk, false},
		{0, 999, false},
		{0, math.MaxUint64, true},
	} {
		if s.Far(c.memory, c.free) != c.want {
			t.Errorf("memory %d, %d bytes free: far %v", c.memory, c.free, !c.want)
		}
	}
	s.Look(0, 999, false)
	if s.Far(0, math.MaxUint64) {
		t.Error("far in an alarm")
	}
}
