package cluster

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"fiveways.dev/fiveways/test/brokertest"
	"fiveways.dev/fiveways/test/clustertest"
)

// TestStuckDisks checks that nothing is confirmed while the disks of both followers hang, because
// only the leader has it on disk. When the disks answer again, it is confirmed.
func TestStuckDisks(t *testing.T) {
	t.Parallel()
	var disks, folders []string
	for range 3 {
		disk, err := brokertest.FreezableDisk(t, "1G")
		if errors.Is(err, brokertest.ErrNoMount) {
			t.Skip(err)
		}
		must(t, err)
		disks, folders = append(disks, disk), append(folders, filepath.Join(disk, "data"))
	}
	c := clustertest.Linked(t, folders)
	leader := c.Leader()
	ch := dial(t, c, leader)
	_, err := ch.QueueDeclare("q", true, false, false, false, nil)
	must(t, err)
	thaw := []func(){brokertest.Freeze(t, disks[(leader+1)%3]), brokertest.Freeze(t, disks[(leader+2)%3])}
	sent, err := ch.PublishWithDeferredConfirm("", "q", true, false, amqp.Publishing{DeliveryMode: amqp.Persistent, Body: []byte("m")})
	must(t, err)
	select {
	case <-sent.Done():
		t.Errorf("a message is confirmed while only one disk answers: %v", sent.Acked())
	case <-time.After(time.Second):
	}
	for _, fn := range thaw {
		fn()
	}
	if ok, err := sent.WaitContext(t.Context()); !ok || err != nil {
		t.Errorf("the disks answer again: confirmed %v, %v", ok, err)
	}
}
