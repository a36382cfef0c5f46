package process

import (
	"testing"
	"time"
)

func TestParseStat(t *testing.T) {
	const line = "42 (a) b (c) S 1 42 42 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 7 0 1000 123456789 300 18446744073709551615"
	u, err := parseStat(line, 4096)
	if err != nil || u.CPU != 3*time.Second || u.RSS != 300*4096 {
		t.Fatalf("%+v, %v", u, err)
	}
	for _, bad := range []string{"", "42 (x) S 1 2", "42 (a) S 1 42 42 0 -1 4194560 100 0 0 0 x 50 0 0 20 0 7 0 1000 1 300 1"} {
		if u, err := parseStat(bad, 4096); err == nil {
			t.Errorf("%q gave %+v", bad, u)
		}
	}
}
