package catalog

import "testing"

func TestRetryAt(t *testing.T) {
	for name, k := range map[string]struct {
		p              QueuePolicy
		count          int64
		refused, other int64 // waits
	}{
		"off":           {QueuePolicy{RetryMin: 10, RetryMax: 20}, 1, 0, 0},
		"all":           {QueuePolicy{RetryType: RetryAll, RetryMin: 10, RetryMax: 25}, 2, 20, 20},
		"capped":        {QueuePolicy{RetryType: RetryAll, RetryMin: 10, RetryMax: 25}, 3, 25, 25},
		"failed":        {QueuePolicy{RetryType: RetryFailed, RetryMin: 10, RetryMax: -1}, 3, 30, 0},
		"returned":      {QueuePolicy{RetryType: RetryReturned, RetryMin: 10, RetryMax: -1}, 3, 0, 30},
		"unset minimum": {QueuePolicy{RetryType: RetryAll, RetryMin: -1, RetryMax: -1}, 2, 2000, 2000},
		"zero":          {QueuePolicy{RetryType: RetryAll, RetryMin: 0, RetryMax: -1}, 2, 0, 0},
		"below minimum": {QueuePolicy{RetryType: RetryAll, RetryMin: 10, RetryMax: 5}, 1, 5, 5},
		"huge":          {QueuePolicy{RetryType: RetryAll, RetryMin: 1 << 51, RetryMax: -1}, 1 << 32, maxRetry, maxRetry},
	} {
		const now = 1000
		for refused, want := range map[bool]int64{true: k.refused, false: k.other} {
			if want > 0 {
				want += now
			}
			if got := k.p.RetryAt(now, k.count, refused); got != want {
				t.Errorf("%s: refused %v: got %d, want %d", name, refused, got, want)
			}
		}
	}
}
