package cluster

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"fiveways.dev/fiveways/internal/protocol"
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

// TestFollowersLowOnDisk checks that publishers are blocked while the disks of both followers are
// nearly full, and that each node tells of its own disk.
func TestFollowersLowOnDisk(t *testing.T) {
	t.Parallel()
	c := clustertest.Start(t, "--metrics", "127.0.0.1:0")
	roomy := c.Leader()
	restart := func(i int, flags ...string) {
		c.Stop(i)
		c.Up(i, flags...)
		c.Until("all nodes are up", func() bool { return c.Count(protocol.RoleFollower) == 2 })
	}
	blocks := func(is string) func() bool {
		return func() bool {
			_, metrics := ask(t, c.Nodes[c.Leader()], "/metrics")
			return c.Leader() == roomy && strings.Contains(metrics, `fiveways_alarm{resource="disk"} `+is)
		}
	}
	for i := range c.Nodes {
		if i != roomy {
			restart(i, "--disk-free-limit", "1000000000000000000")
		}
	}
	c.Until("publishers are blocked", blocks("1"))
	if out := clustertest.Command(t, "cluster", "status", "--data", c.Nodes[roomy].Dir); strings.Count(out, "(low)") != 2 {
		t.Error(out)
	}
	low := (roomy + 1) % 3
	if _, metrics := ask(t, c.Nodes[low], "/metrics"); !strings.Contains(metrics, "rabbitmq_alarms_free_disk_space_watermark 1\n") {
		t.Error(metrics)
	}
	restart(low)
	c.Until("publishers are not blocked any more", blocks("0"))
}
