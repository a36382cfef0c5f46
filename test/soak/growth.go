package soak

import (
	"fmt"
	"slices"
)

// The minimum number of samples for a series to be judged. With fewer, a third of them is chance.
const (
	fewest       = 30
	fewestAtRest = 9 // when the broker does nothing
)

// leeway is the factor by which the floors are raised for a short run, a third of which is a
// handful of garbage collections and bursts.
const leeway = 4

// Grown returns one line for each figure that has grown over the samples without a cause. A run
// that is not long gets leeway, since everything is just beginning and other tests may run beside
// it, and its times are not judged.
//
// Grown compares what a figure has beyond its cause: the median in the last third of the samples
// with that in the middle third. The first third is left out, because caches and pools fill then.
// Medians are not moved by the peaks of bursts and garbage collections.
func Grown(samples []Sample, long bool) (breaches []string) {
	for _, f := range Figures {
		floor := f.Floor
		if !long {
			floor *= leeway
		}
		if f.Timed && !long {
			continue
		}
		var excess []float64
		for _, s := range samples {
			excess = append(excess, f.Of(s.Values)-f.Cause(s.Values))
		}
		n := len(excess)
		before, after := median(excess[n/3:2*n/3]), median(excess[2*n/3:])
		if after-before > max(floor, (f.Factor-1)*before) {
			breaches = append(breaches, fmt.Sprintf("%s grew from %.1f to %.1f%s beyond its causes, from %s to %s", f.Name, before, after,
				unit(f), clock(samples[n/2].At), clock(samples[5*n/6].At)))
		}
	}
	return breaches
}

func unit(f Figure) string {
	if f.Unit == "" {
		return ""
	}
	return " " + f.Unit
}

// median returns the middle value.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// lives splits the samples by process.
func lives(samples []Sample) (split [][]Sample) {
	for i, s := range samples {
		if i == 0 || s.Life != samples[i-1].Life {
			split = append(split, nil)
		}
		split[len(split)-1] = append(split[len(split)-1], s)
	}
	return split
}

// Judge returns what has grown within a life, from life to life, and in rest, which are the samples
// of the empty broker.
func Judge(samples, rest []Sample, long bool) (breaches []string) {
	for _, f := range Figures {
		measured := slices.ContainsFunc(samples, func(s Sample) bool { return f.Of(s.Values) > 0 })
		if len(samples) > 0 && !f.Timed && !measured {
			breaches = append(breaches, f.Name+" is not measured")
		}
	}
	for _, series := range append(lives(samples), samples) {
		if len(series) >= fewest {
			breaches = append(breaches, Grown(series, long)...)
		}
	}
	if len(rest) >= fewestAtRest {
		breaches = append(breaches, Grown(rest, long)...)
	}
	return breaches
}
