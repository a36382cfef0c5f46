package semaphore

import "strconv"

var statuses = [...]string{Wait: "WAIT", Acquired: "ACQUIRED", TryRelease: "TRY_RELEASE"}

// String is the name of the status, as in the seed's schema and in every protocol.
func (s Status) String() string {
	if int(s) < len(statuses) {
		return statuses[s]
	}
	return "Status(" + strconv.Itoa(int(s)) + ")"
}

// ParseStatus reads the name of a status.
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

// String is the name of the event, the last word of its routing key; "" for 0, which is none.
func (e Event) String() string {
	if int(e) < len(events) {
		return events[e]
	}
	return "Event(" + strconv.Itoa(int(e)) + ")"
}
