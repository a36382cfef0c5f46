package semaphore

import (
	"testing"

	"fiveways/test/brokertest"
)

func TestMain(m *testing.M) { brokertest.Main(m) }
