package history

import "fmt"

// Delayed holds for queues behind a delayed exchange whose messages stay on their shard. They are
// ordered by their due times, which only the broker knows exactly.
var Delayed = Promises{rules: []func(*run) []string{
	checkKnown, checkEarly, checkFlag, checkRepeats, checkConfirmed, checkPublishes, checkAcks, checkSettled,
}}

// DelayedElsewhere is Delayed for queues that may be on other shards than the exchange: a kill can
// duplicate messages in transit.
var DelayedElsewhere = Promises{rules: Delayed.rules, doubles: true}

// checkEarly checks that no message is delivered before it is due.
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
