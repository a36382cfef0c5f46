package sql

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // zones are found on a machine that has no files of them
)

// zone finds a time zone by the value of SET TimeZone and tells how SHOW names it. A number is
// hours east of Greenwich.
func zone(v string) (loc *time.Location, name string, ok bool) {
	switch strings.ToLower(v) {
	case "":
		return nil, "", false
	case "utc":
		return time.UTC, "UTC", true
	case "gmt", "z", "zulu":
		return time.FixedZone(strings.ToUpper(v), 0), strings.ToUpper(v), true
	}
	if hours, err := strconv.ParseFloat(v, 64); err == nil && hours > -168 && hours < 168 {
		return offsetZone(int(hours * 3600))
	}
	if strings.HasPrefix(v, "<") {
		return posixZone(v)
	}
	if strings.Contains(v, "..") || strings.HasPrefix(v, "/") || strings.EqualFold(v, "local") {
		return nil, "", false
	}
	for _, name := range []string{v, strings.ToUpper(v), titled(v)} {
		if loc, err := time.LoadLocation(name); err == nil {
			return loc, name, true
		}
	}
	return nil, "", false
}

// titled writes a zone's name as the database of zones does: europe/moscow is Europe/Moscow.
func titled(v string) string {
	up := true
	return strings.Map(func(r rune) rune {
		now := up
		up = r == '/' || r == '_' || r == '-'
		if now {
			return []rune(strings.ToUpper(string(r)))[0]
		}
		return []rune(strings.ToLower(string(r)))[0]
	}, v)
}

// offsetZone is a zone that is this many seconds east of Greenwich; PostgreSQL names it <+03>-03.
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

// posixZone reads what offsetZone wrote.
func posixZone(v string) (*time.Location, string, bool) {
	name, _, found := strings.Cut(v[1:], ">")
	hours, minutes, _ := strings.Cut(name, ":")
	h, err := strconv.Atoi(hours)
	if !found || err != nil {
		return nil, "", false
	}
	m := 0
	if minutes != "" {
		if m, err = strconv.Atoi(minutes); err != nil {
			return nil, "", false
		}
	}
	if strings.HasPrefix(hours, "-") {
		m = -m
	}
	return offsetZone(h*3600 + m*60)
}
