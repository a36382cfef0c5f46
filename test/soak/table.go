package soak

import (
	"fmt"
	"strconv"
	"time"
)

// clock formats a time of the run as hours, minutes and seconds.
func clock(d time.Duration) string {
	s := int(d.Seconds())
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

// columns returns all figures, those that explain the others first.
func columns() []Figure { return append(live[:len(live):len(live)], Figures...) }

// header returns the first line of a table.
func header() string {
	line := fmt.Sprintf("%8s %4s", "time", "life")
	for _, f := range columns() {
		line += fmt.Sprintf(" %*s", width(f), f.Name)
	}
	return line
}

// width returns the width of a column.
func width(f Figure) int { return max(6, len(f.Name)) }

// row returns the line of a sample.
func row(s Sample) string {
	line := fmt.Sprintf("%8s %4d", clock(s.At), s.Life)
	for _, f := range columns() {
		line += fmt.Sprintf(" %*.*f", width(f), digits(f), f.Of(s.Values))
	}
	return line
}

// digits returns the number of decimals of a figure.
func digits(f Figure) int {
	switch f.Unit {
	case "ms":
		return 2
	case "MiB":
		return 1
	}
	return 0
}

// table returns at most this many of the samples, under a header.
func table(samples []Sample, most int) string {
	text := header()
	for n, every := 0, max(1, (len(samples)+most-1)/most); n < len(samples); n += every {
		text += "\n" + row(samples[n])
	}
	return text
}

// csvHeader returns the names of the fields of csvLine.
func csvHeader() []string {
	names := []string{"seconds", "life"}
	for _, f := range columns() {
		names = append(names, f.Name)
	}
	return names
}

// csvLine returns a sample's seconds since the run began, its life, and all figures.
func csvLine(s Sample) []string {
	line := []string{strconv.Itoa(int(s.At.Seconds())), strconv.Itoa(s.Life)}
	for _, f := range columns() {
		line = append(line, strconv.FormatFloat(f.Of(s.Values), 'g', 6, 64))
	}
	return line
}
