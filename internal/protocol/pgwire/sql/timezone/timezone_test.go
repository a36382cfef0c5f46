package timezone

import (
	"testing"
	"time"
)

func TestLookup(t *testing.T) {
	summer := time.Date(2024, 7, 1, 0, 0, 0, 0, time.UTC)
	for name, want := range map[string]struct {
		shown  string
		offset int
	}{
		"Europe/Moscow": {"Europe/Moscow", 3 * 3600}, "europe/moscow": {"Europe/Moscow", 3 * 3600}, "america/port-au-prince": {"America/Port-au-Prince", -4 * 3600},
		"us/pacific": {"US/Pacific", -7 * 3600}, "utc": {"UTC", 0}, "Etc/GMT+3": {"Etc/GMT+3", -3 * 3600},
		"utc+3": {"UTC+3", -3 * 3600}, "<+0530>-5:30": {"<+0530>-5:30", 5*3600 + 30*60}, "cet-1cest,m3.5.0,m10.5.0/3": {"CET-1CEST,M3.5.0,M10.5.0/3", 2 * 3600},
	} {
		zone := Lookup(name)
		if zone == nil {
			t.Errorf("%s is not found", name)
			continue
		}
		if _, offset := summer.In(zone).Zone(); zone.String() != want.shown || offset != want.offset {
			t.Errorf("%s is %s with the offset %d, want %s and %d", name, zone, offset, want.shown, want.offset)
		}
	}
	for _, name := range []string{"", "local", "Local", "Nowhere/Town", "utc+168", "<+03", "cet-1cest,x"} {
		if zone := Lookup(name); zone != nil {
			t.Errorf("%q is %s", name, zone)
		}
	}
}

func TestAbbreviation(t *testing.T) {
	for name, want := range map[string]int{"msk": 3 * 3600, "z": 0, "nst": -(3*3600 + 30*60), "acwst": 8*3600 + 45*60} {
		if seconds, ok := Abbreviation(name); !ok || seconds != want {
			t.Errorf("%s is %d, %t, want %d", name, seconds, ok, want)
		}
	}
	if _, ok := Abbreviation("MSK"); ok {
		t.Error("an abbreviation in upper case is found")
	}
}

func TestIsFixed(t *testing.T) {
	for name, want := range map[string]bool{"UTC": true, "UTC+3": true, "Etc/GMT-5": true, "Europe/Moscow": false, "America/New_York": false} {
		if got := IsFixed(Lookup(name)); got != want {
			t.Errorf("%s is fixed: %t", name, got)
		}
	}
}
