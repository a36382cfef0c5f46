package broker

import (
	"testing"

	"fiveways/internal/core/message"
)

func TestLists(t *testing.T) {
	b := open(t, vfsMem(t), "data", Options{})
	s := session(t, b, nil)
	_ = s
}
