package settings

import (
	"fmt"
	"strconv"
	"time"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/timezone"
)

// zone returns a time zone for a value of SET TimeZone, and its name for SHOW. A number is an
// offset in hours east of Greenwich.
func zone(v string) (loc *time.Location, name string, ok bool) {
	if hours, err := strconv.ParseFloat(v, 64); err == nil && hours > -168 && hours < 168 {
		return offsetZone(int(hours * 3600))
	}
	if loc = timezone.Lookup(v); loc == nil {
		return nil, "", false
	}
	return loc, loc.String(), true
}

// offsetZone returns a zone at an offset in seconds east of Greenwich. PostgreSQL names it like
// <+03>-03.
func offsetZone(east int) (*time.Location, string, bool) {
	short, posix := offset(east), offset(-east)
	return time.FixedZone(short, east), "<" + short + ">" + posix, true
}

func offset(east int) string {
	sign := '+'
	if east < 0 {
		sign, east = '-', -east
	}
	text := fmt.Sprintf("%c%02d", sign, east/3600)
	if east%3600 != 0 {
		text += fmt.Sprintf(":%02d", east/60%60)
	}
	return text
}
