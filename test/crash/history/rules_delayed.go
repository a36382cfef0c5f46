package history

import "fmt"

// Delayed holds for queues behind a delayed exchange whose messages do not leave their shard. Order
// is that of the times, which only the broker knows exactly.
var Delayed = Promises{rules: []func(*run) []string{
	checkKnown, checkEarly, checkFlag, checkRepeats, checkConfirmed, checkPublishes, checkAcks, checkSettled,
}}

// DelayedElsewhere is Delayed when the queues may be on other shards than the exchange: a kill can
// double what is on its way.
var DelayedElsewhere = Promises{rules: Delayed.rules, doubles: true}

// checkEarly: nothing comes before its time.
func checkEarly(r *run) (breaches []string) {
	for _, p := range r.places {
		for _, d := range r.deliveries[p] {
			if early := r.due[p] - d.time; early > 0 {
				breaches = append(breaches, fmt.Sprintf("delivered %d ms early: %s", early, p))
			}
		}
	}
	return breaches
}
