package policies

import (
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/declareargs"
)

// ruling applies a valid setting to a queue. declared reports whether the queue's own arguments
// contain it.
type ruling func(r *catalog.Ruling, v any, declared bool)

// number returns the ruling for a number. If the queue declares one, too, the smaller one applies.
func number(field func(*catalog.Ruling) *int64, most int64) ruling {
	return func(r *catalog.Ruling, v any, declared bool) {
		n, to := integer(v, most), field(r)
		if declared && *to >= 0 {
			n = min(n, *to)
		}
		*to = n
	}
}

// exact returns the ruling for a time in ms. A queue's own argument takes precedence.
func exact(field func(*catalog.Ruling) *int64) ruling {
	return func(r *catalog.Ruling, v any, declared bool) {
		if !declared {
			*field(r) = integer(v, maxTimer)
		}
	}
}

func deadLetterExchange(r *catalog.Ruling, v any, declared bool) {
	if !declared {
		r.DeadLetter, r.DeadLetterExchange = true, v.(string)
	}
}

func deadLetterKey(r *catalog.Ruling, v any, declared bool) {
	if !declared {
		r.HasDeadLetterKey, r.DeadLetterKey = true, v.(string)
	}
}

// maxAge applies even if the stream declares its own.
func maxAge(r *catalog.Ruling, v any, _ bool) { r.MaxAge, _ = declareargs.Age(v.(string)) }
