package amqpcode

import (
	"testing"
)

func TestCodes(t *testing.T) {
	soft := []uint16{311, 312, 313, 403, 404, 405, 406}
	hard := []uint16{320, 402, 501, 502, 503, 504, 505, 506, 530, 540, 541}
	for _, code := range soft {
		if IsHard(code) || Name(code) == "" {
			t.Errorf("%d: hard %v, name %q", code, IsHard(code), Name(code))
		}
	}
	for _, code := range hard {
		if !IsHard(code) || Name(code) == "" {
			t.Errorf("%d: hard %v, name %q", code, IsHard(code), Name(code))
		}
	}
	if got := Name(404) + Name(501) + Name(999); got != "NOT_FOUNDFRAME_ERROR" {
		t.Errorf("names %q", got)
	}
}

func TestText(t *testing.T) {
	if got := Text(NotFound, "no queue 'q'") + Text(InternalError, ""); got != "NOT_FOUND - no queue 'q'INTERNAL_ERROR" {
		t.Errorf("%q", got)
	}
}
