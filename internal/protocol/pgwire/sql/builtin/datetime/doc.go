// Package datetime has the functions of dates, times, timestamps and intervals: arithmetic, ages,
// overlaps, extract, date_trunc, construction from numbers, and AT TIME ZONE.
//
// It owns the names of units and the abbreviations of zones whose offset has changed. Everything is
// counted in microseconds; infinite dates and timestamps stay infinite, and a result out of range
// is an error.
package datetime
