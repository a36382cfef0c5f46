package semaphore

import "strconv"

var statuses = [...]string{Wait: "WAIT", Acquired: "ACQUIRED", TryRelease: "TRY_RELEASE"}

// String returns the name of the status, which every protocol uses.
func (s Status) String() string {
	if int(s) < len(statuses) {
		return statuses[s]
	}
	return "Status(" + strconv.Itoa(int(s)) + ")"
}

// ParseStatus parses the name of a status.
func ParseStatus(name string) (s Status, ok bool) {
	for s, n := range statuses {
		if n == name {
			return Status(s), true
		}
	}
	return 0, false
}

var events = [...]string{
	EventAcquired: "Acquired", EventTryRelease: "TryRelease", EventRetained: "Retained", EventExpired: "Expired", EventDeleted: "Deleted",
}

// String returns the name of the event, the last word of its routing key; "" for 0, which is no
// event.
func (e Event) String() string {
	if int(e) < len(events) {
		return events[e]
	}
	return "Event(" + strconv.Itoa(int(e)) + ")"
}
