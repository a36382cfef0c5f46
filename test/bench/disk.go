package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"fiveways.dev/fiveways/test/bench/floor"
)

// diskRunner measures a disk that has the null servers' file.
type diskRunner func(d *floor.Disk, s settings) (values, error)

// diskPeer returns the disk of temporary files, on which all servers have their data.
func diskPeer() *peer {
	return &peer{name: nameDisk, disk: func(_ context.Context, c benchCase, s settings) (v values, err error) {
		dir, err := os.MkdirTemp("", "fiveways-bench-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		d, err := floor.OpenDisk(filepath.Join(dir, "floor"), true)
		if err != nil {
			return nil, err
		}
		defer d.Close()
		return c.disk(d, s)
	}}
}

// diskProbe measures writers that each write size bytes and wait until they are durable.
func diskProbe(writers, size int) diskRunner {
	return func(d *floor.Disk, s settings) (values, error) {
		took, err := d.Probe(writers, size, s.duration)
		if err != nil {
			return nil, err
		}
		slices.Sort(took)
		millis := func(mille int) float64 { return float64(atMille(took, mille)) / float64(time.Millisecond) }
		return values{"rate": float64(len(took)) / s.duration.Seconds(), "p50": millis(500), "p99": millis(990)}, nil
	}
}

// diskCases returns cases with the sizes of requests, and as many writers as the loads have
// clients.
func diskCases() (all []benchCase) {
	for _, c := range []struct{ writers, size int }{{1, 200}, {1, 4096}, {1, 65_536}, {4, 200}, {16, 200}, {64, 200}} {
		title := fmt.Sprintf("%s bytes, %d at a time", number(float64(c.size)), c.writers)
		all = append(all, benchCase{name: fmt.Sprintf("disk-%d-%d", c.writers, c.size), title: title, disk: diskProbe(c.writers, c.size),
			metrics: []metric{{name: "rate", unit: "writes/s", more: true}, {name: "p50", unit: "ms"}, {name: "p99", unit: "ms"}}})
	}
	return all
}
