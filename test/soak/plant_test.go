package soak

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"fiveways.dev/fiveways/test/brokertest"
)

// plantLoss is the variable that makes TestSoak lose a message.
const plantLoss = "SOAK_PLANT_LOSS"

// plant leaves only one load, and an operator that steals one of its messages.
func (r *run) plant() {
	r.loads = r.loads[:1]
	r.lives = func(*rand.Rand) []time.Duration { return []time.Duration{2 * time.Second} }
	r.operator.every = 100 * time.Millisecond
	r.operator.tasks = []task{{"thefts", r.steal}}
}

// steal takes a message from the load, for which the broker seems to have lost it.
func (r *run) steal(ctx context.Context, b *brokertest.Broker) error {
	conn, ch, err := dial("amqp://guest:guest@" + b.Addr() + "/" + r.operator.vhosts[0])
	if err != nil {
		return err
	}
	defer conn.Close()
	stolen, err := ch.Consume("crash.three", "", true, false, false, false, nil)
	if err != nil {
		return err
	}
	select {
	case <-stolen:
	case <-ctx.Done():
	}
	return nil
}

func TestPlantedLossIsFound(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSoak$")
	cmd.Env = append(os.Environ(), plantLoss+"=1", "BROKERTEST_BIN="+brokertest.Binary(t))
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "confirmed but never delivered: ") {
		t.Errorf("a soak in which messages were stolen ended with %v:\n%s", err, out)
	}
}
