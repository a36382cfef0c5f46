package main

import (
	"fmt"
	"slices"
	"strconv"
)

// metric is one row of the table.
type metric struct {
	name, unit string
	more       bool // more is better
	bar        bar
}

// bar is what Fiveways must reach. The zero bar has no requirement.
type bar struct {
	times float64 // better than the rival by this factor in the same run
	limit float64 // an absolute value: the minimum or the maximum, depending on the metric
}

func timesRival(f float64) bar { return bar{times: f} }
func limit(v float64) bar      { return bar{limit: v} }

// better returns the factor by which ours is better than theirs: 2 means twice the rate or half the
// cost. ok is false if one of them is not positive, so that no factor exists.
func (m metric) better(ours, theirs float64) (factor float64, ok bool) {
	if ours <= 0 || theirs <= 0 {
		return 0, false
	}
	if m.more {
		return ours / theirs, true
	}
	return theirs / ours, true
}

// barText describes the bar. It returns "" if there is none.
func (m metric) barText() string {
	switch {
	case m.bar.times > 0:
		return "≥ " + number(m.bar.times) + " ×"
	case m.bar.limit > 0 && m.more:
		return "≥ " + number(m.bar.limit) + " " + m.unit
	case m.bar.limit > 0:
		return "≤ " + number(m.bar.limit) + " " + m.unit
	}
	return ""
}

// verdict returns "yes" or "no" if there is a bar and enough numbers to judge it, otherwise "".
func (m metric) verdict(ours, rabbit float64, haveRabbit bool) string {
	var met bool
	switch {
	case m.bar.times > 0:
		factor, ok := m.better(ours, rabbit)
		if !haveRabbit || !ok {
			return ""
		}
		met = factor >= m.bar.times
	case m.bar.limit > 0 && m.more:
		met = ours >= m.bar.limit
	case m.bar.limit > 0:
		met = ours <= m.bar.limit
	default:
		return ""
	}
	if met {
		return "yes"
	}
	return "no"
}

// median returns the median of at least one value. For an even number of values it is the mean of
// the middle two.
func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// atMille returns the value that so many thousandths of sorted do not exceed.
func atMille[T any](sorted []T, mille int) T { return sorted[(len(sorted)-1)*mille/1000] }

// number formats a value with three significant digits, or as whole thousands with separators.
func number(v float64) string {
	if v < 999.5 && v > -999.5 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	s := fmt.Sprintf("%.0f", v)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
