package level

import (
	"errors"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	for _, tc := range []struct {
		supported Range
		level     uint64
		says      string // "": supported
	}{
		{Range{1, 1}, 1, ""},
		{Range{1, 2}, 1, ""},
		{Range{1, 2}, 2, ""},
		{Range{1, 1}, 2, "at level 2, and the version that is installed supports level 1: install that of the other nodes, or a newer one"},
		{Range{1, 2}, 3, "at level 3, and the version that is installed supports levels 1 and 2: install that of the other nodes, or a newer one"},
		{Range{2, 3}, 1, "at level 1, and the version that is installed supports levels 2 and 3: install that of the other nodes; upgrade without"},
	} {
		err := tc.supported.Check(tc.level)
		if tc.says == "" && err != nil || tc.says != "" && (!errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), tc.says)) {
			t.Errorf("%s, and a log at level %d: %v", tc.supported, tc.level, err)
		}
	}
}
