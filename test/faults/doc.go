// Package faults runs a real broker on a disk that fills up and empties again.
package faults
