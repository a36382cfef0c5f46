package policies

import (
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/declareargs"
)

// ruling makes a valid setting count for a queue. declared tells that the queue's own arguments say
// something about it.
type ruling func(r *catalog.Ruling, v any, declared bool)

// number is a setting of which the smaller one counts, where the queue declares one, too.
func number(field func(*catalog.Ruling) *int64, most int64) ruling {
	return func(r *catalog.Ruling, v any, declared bool) {
		n, to := integer(v, most), field(r)
		if declared && *to >= 0 {
			n = min(n, *to)
		}
		*to = n
	}
}

// exact is a time in ms that a queue's own argument hides.
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

// maxAge counts whatever a stream declares.
func maxAge(r *catalog.Ruling, v any, _ bool) { r.MaxAge, _ = declareargs.Age(v.(string)) }
