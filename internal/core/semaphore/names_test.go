package semaphore

import "testing"

func TestNames(t *testing.T) {
	for s, want := range map[Status]string{Wait: "WAIT", Acquired: "ACQUIRED", TryRelease: "TRY_RELEASE", 9: "Status(9)"} {
		if got := s.String(); got != want {
			t.Errorf("status %d is %q, want %q", uint8(s), got, want)
		}
		if parsed, ok := ParseStatus(want); ok != (s <= TryRelease) || ok && parsed != s {
			t.Errorf("%q is status %v, %v", want, parsed, ok)
		}
	}
	for e, want := range map[Event]string{
		0: "", EventAcquired: "Acquired", EventTryRelease: "TryRelease", EventRetained: "Retained", EventExpired: "Expired", EventDeleted: "Deleted", 9: "Event(9)",
	} {
		if got := e.String(); got != want {
			t.Errorf("event %d is %q, want %q", uint8(e), got, want)
		}
	}
}
