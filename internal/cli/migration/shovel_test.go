package migration

import (
	"errors"
	"strings"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/cli/display"
	"fiveways.dev/fiveways/internal/shovel"
)

func TestShovelProgress(t *testing.T) {
	var out strings.Builder
	now := time.Unix(0, 0)
	tell := shovelProgress(&out, display.NewMeter(&out, messagesUnit), 0, func() time.Time { return now })
	tell(shovel.Progress{Moved: 10})
	now = now.Add(10 * time.Second)
	tell(shovel.Progress{Moved: 1000})
	tell(shovel.Progress{Moved: 1000, Breaks: 1, Err: errors.New("gone")})
	if want := "     1000 moved, 100/s\n     1000 moved; gone; trying again\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
