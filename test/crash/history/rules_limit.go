package history

import "fmt"

// DeliveryLimit is the delivery limit of limited queues: how often a message may be returned.
const DeliveryLimit = 3

// Limited holds for queues with a delivery limit whose dead letters go to dead queues on the same
// shard.
var Limited = Promises{rules: []func(*run) []string{
	checkSent, checkFlag, checkRepeats, checkOrder, checkCounts, checkBuried, checkEnds, checkSettled,
}}

// LimitedElsewhere is Limited when the dead queues may be on other shards: a kill can duplicate
// dead letters in transit, and a message leaves its queue only some time after its death.
var LimitedElsewhere = Promises{rules: []func(*run) []string{
	checkSent, checkOrder, checkCounts, checkEnds,
}}

// DeadOf returns the name of the queue for the dead letters of a limited queue.
func DeadOf(queue string) string { return queue + ".dead" }

// checkSent checks that each delivered message was sent to that queue, or is a dead letter that was
// returned often enough.
func checkSent(r *run) (breaches []string) {
	returns := map[place]int{}
	sent := map[place]bool{}
	for _, e := range r.events {
		p := place{e.Msg, e.Queue}
		switch {
		case e.Kind == Sent:
			sent[p] = true
		case e.Kind == Requeued:
			returns[place{e.Msg, DeadOf(e.Queue)}]++
		case e.Kind != Delivered || sent[p]:
		case returns[p] == 0:
			breaches = append(breaches, fmt.Sprintf("delivered but never sent: %s", p))
		case returns[p] <= DeliveryLimit:
			breaches = append(breaches, fmt.Sprintf("dead after coming back %d times: %s", returns[p], p))
		}
	}
	return breaches
}

// checkCounts checks that within a round returns count and nothing else does. Over a crash at least
// the confirmed returns count, and at most all of them. A message that was returned more often than
// the limit is not delivered again.
func checkCounts(r *run) (breaches []string) {
	returned, promised := map[place]int{}, map[place]int{} // how often at most, and at least
	unpromised := map[string][]place{}                     // by queue
	inRound := map[place]int{}                             // the count that the next delivery in this round must have
	for _, e := range r.events {
		p := place{e.Msg, e.Queue}
		switch e.Kind {
		case Requeued:
			returned[p]++
			inRound[p]++
			unpromised[e.Queue] = append(unpromised[e.Queue], p)
		case Synced:
			for _, p := range unpromised[e.Queue] {
				promised[p]++
			}
			delete(unpromised, e.Queue)
		case Crashed:
			clear(inRound)
			clear(unpromised)
		case Delivered:
			at, again := inRound[p]
			switch {
			case e.Count > DeliveryLimit:
				breaches = append(breaches, fmt.Sprintf("delivered after coming back %d times: %s", e.Count, p))
			case again && e.Count != at:
				breaches = append(breaches, fmt.Sprintf("count %d, want %d: %s", e.Count, at, p))
			case e.Count < min(promised[p], DeliveryLimit):
				breaches = append(breaches, fmt.Sprintf("count %d, but %d returns were promised to count: %s", e.Count, promised[p], p))
			case e.Count > returned[p]:
				breaches = append(breaches, fmt.Sprintf("count %d after %d returns: %s", e.Count, returned[p], p))
			}
			if !again {
				promised[p] = e.Count // it was read from disk, or nothing has happened yet
			}
			inRound[p], returned[p] = e.Count, e.Count // returns that a crash undid no longer count
		}
	}
	return breaches
}

// checkBuried checks that a message whose death is confirmed is no longer in its queue.
func checkBuried(r *run) (breaches []string) {
	died, buried := map[string][]place{}, map[place]bool{}
	count := map[place]int{}
	for _, e := range r.events {
		p := place{e.Msg, e.Queue}
		switch e.Kind {
		case Delivered:
			if buried[p] {
				breaches = append(breaches, fmt.Sprintf("came back from the dead: %s", p))
			}
			count[p] = e.Count
		case Requeued:
			if count[p] == DeliveryLimit {
				died[e.Queue] = append(died[e.Queue], p)
			}
		case Synced:
			for _, p := range died[e.Queue] {
				buried[p] = true
			}
			delete(died, e.Queue)
		case Crashed:
			clear(died)
		}
	}
	return breaches
}

// checkEnds checks that each durable message was delivered and finally acknowledged, in its queue
// or as a dead letter.
func checkEnds(r *run) (breaches []string) {
	for _, p := range r.places {
		ds, dead := r.deliveries[p], r.deliveries[place{p.msg, DeadOf(p.queue)}]
		switch {
		case !r.durable(p):
		case len(ds) == 0:
			breaches = append(breaches, fmt.Sprintf("confirmed but never delivered: %s", p))
		case r.tried(ds[len(ds)-1]):
		case len(dead) == 0 || !r.tried(dead[len(dead)-1]):
			breaches = append(breaches, fmt.Sprintf("lost without an acknowledgement: %s", p))
		}
	}
	return breaches
}
