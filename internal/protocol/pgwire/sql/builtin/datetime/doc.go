// Package datetime implements the functions of dates, times, timestamps and intervals: arithmetic,
// ages, overlaps, extract, date_trunc, construction from numbers, and AT TIME ZONE.
//
// It defines the names of units and the zone abbreviations whose offset has changed. The resolution
// is microseconds. Infinite dates and timestamps stay infinite, and a result out of range is an
// error.
package datetime
