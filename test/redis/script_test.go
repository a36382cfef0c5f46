package redis

import (
	"path/filepath"
	"testing"
)

// TestScripts plays the scripts of testdata in both versions of the protocol.
func TestScripts(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, version := range []string{"RESP2", "RESP3"} {
		t.Run(version, func(t *testing.T) {
			d := newDuel(t, version == "RESP3")
			for _, name := range names {
				all, err := readScripts(name)
				if err != nil {
					t.Fatal(err)
				}
				for _, s := range all {
					d.play(s.name, s.steps)
				}
			}
		})
	}
}
