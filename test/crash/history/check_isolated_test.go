package history

import (
	"slices"
	"testing"
)

func TestCheckIsolated(t *testing.T) {
	for name, c := range map[string]struct {
		lines string
		want  []string
	}{
		"what was sent before, and another node afterwards": {`
			sent p1 q
			sent p2 q tx=1
			commit tx=1
			isolated at=1000
			confirmed p1
			committed tx=1
			delivered p1 q at=1500
			sent p3 q
			crash
			sent p4 q
			confirmed p4
			delivered p4 q at=9000
			acked p4 q`, nil},
		"an empty transaction": {"isolated at=1000\n commit tx=1\n committed tx=1", nil},
		"confirmed":            {"isolated at=1000\n sent p1 q\n confirmed p1", []string{"sent to a node that is cut off, and confirmed: p#1"}},
		"committed":            {"sent p1 q tx=1\n isolated at=1000\n commit tx=1\n committed tx=1", []string{"committed by a node that is cut off: tx 1"}},
		"delivered":            {"sent p1 q\n confirmed p1\n isolated at=1000\n delivered p1 q at=3001", []string{"delivered by a node 2001 ms after it was cut off: p#1 in q"}},
		"cut off once more":    {"isolated at=1000\n crash\n isolated at=9000\n sent p1 q\n confirmed p1", []string{"sent to a node that is cut off, and confirmed: p#1"}},
	} {
		if got := checkIsolated(index(script(t, c.lines))); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
