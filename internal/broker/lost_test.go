package broker

import (
	"errors"
	"testing"
	"testing/synctest"

	"fiveways.dev/fiveways/internal/storage/faultlog"
	"fiveways.dev/fiveways/internal/storage/store"
)

// The loss of leadership is reported once, before the open promises fail, and to later callers at
// once. A failed log is no loss of leadership.
func TestWhenLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, c, log := faulty(t, 1)
		defer b.Close() //nolint:errcheck // a log that has failed says so
		c.queue("q", nil)
		log.Hold()
		told := make(chan string, 4)
		b.WhenLost(func() { told <- "lost" })
		purge := func() {
			if _, err := c.PurgeQueue("q"); !errors.Is(err, ErrLogFailed) {
				t.Errorf("a purge: %v", err)
			}
			told <- "a purge failed"
		}
		c.post("", "q", "a", nil)
		go purge()
		synctest.Wait()
		log.Lose(0, store.ErrLost)
		log.Release()
		if first, second := <-told, <-told; first != "lost" || second != "a purge failed" {
			t.Errorf("told: %s, %s", first, second)
		}
		purge()
		b.WhenLost(func() { told <- "lost already" })
		if first, second := <-told, <-told; first != "a purge failed" || second != "lost already" || len(told) > 0 {
			t.Errorf("told: %s, %s, and %d more", first, second, len(told))
		}
	})
	synctest.Test(t, func(t *testing.T) {
		b, c, log := faulty(t, 1)
		defer b.Close() //nolint:errcheck // a log that has failed says so
		c.queue("q", nil)
		b.WhenLost(func() { t.Error("a failure is taken for a loss") })
		log.Fail(0, faultlog.Refused)
		c.post("", "q", "a", nil)
		if _, err := c.PurgeQueue("q"); !errors.Is(err, ErrLogFailed) {
			t.Errorf("a purge: %v", err)
		}
	})
}
