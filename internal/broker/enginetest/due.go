package enginetest

import (
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// DueIn is how long the deadlines of Deadlines are away, and DueMS the same in ms.
const (
	DueIn = 10 * time.Millisecond
	DueMS = int64(DueIn / time.Millisecond)
)

// Deadline sets a deadline that is DueIn away; due reports whether it is over.
type Deadline func(c *Client) (due func() bool)

// Deadlines checks that what is due at a millisecond is due from its beginning, and not before:
// both when a timer finds it, and when an operation does so first.
func Deadlines(t *testing.T, all map[string]Deadline) {
	for name, begin := range all {
		for _, late := range []bool{false, true} {
			after := DueIn
			if !late {
				after -= time.Millisecond
			}
			look := func(t *testing.T, change func(*broker.Options), wait func()) {
				b := Open(t, vfs.NewMem(), change)
				c := NewClient(t, b)
				due := begin(c)
				Sync(t, b)
				wait()
				if got := due(); got != late {
					t.Errorf("after %v it is due: %v", after, got)
				}
				c.Close()
				Close(t, b)
			}
			t.Run(name+", "+after.String()+", the timer first", func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					look(t, nil, func() {
						time.Sleep(after)
						synctest.Wait()
					})
				})
			})
			t.Run(name+", "+after.String()+", who looks first", func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					clock := NewClock(1_000_000)
					look(t, func(o *broker.Options) { o.Now = clock.Now }, func() { clock.MS.Add(after.Milliseconds()) })
				})
			})
		}
	}
}
