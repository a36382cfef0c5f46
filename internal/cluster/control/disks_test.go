package control

import (
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"fiveways.dev/fiveways/internal/monitor"
	"fiveways.dev/fiveways/internal/protocol"
)

// TestShortOfDisk checks that publishers are blocked once the voters with room are no majority.
func TestShortOfDisk(t *testing.T) {
	const limit = 1000
	d := disks{low: map[uint64]bool{}}
	down := protocol.About{DiskFree: -2}
	for _, step := range []struct {
		name string
		free []int64 // by node; -2: it is down, -3: it has no vote
		want string  // the nodes
	}{
		{"all have room", []int64{limit, limit, limit}, ""},
		{"one of three is low", []int64{limit, limit - 1, limit}, ""},
		{"two are low", []int64{limit, limit - 1, 0}, "fiveways-2 fiveways-3"},
		{"a little more room is not enough", []int64{limit, limit + 99, limit + 99}, "fiveways-2 fiveways-3"},
		{"one has room again", []int64{limit, limit + 100, limit + 99}, ""},
		{"one is low, another down", []int64{limit, down.DiskFree, 0}, "fiveways-3"},
		{"one is down", []int64{limit, down.DiskFree, limit + 100}, ""},
		{"free space is unknown", []int64{limit, -1, -1}, ""},
		{"the leader and another", []int64{0, 0, limit}, "fiveways-1 fiveways-2"},
		{"those without a vote", []int64{limit + 100, -3, -3}, ""},
		{"two of five", []int64{limit, 0, 0, limit, limit}, ""},
		{"three of five", []int64{limit, 0, 0, 0, limit}, "fiveways-2 fiveways-3 fiveways-4"},
	} {
		var members []protocol.Member
		for i, free := range step.free {
			m := protocol.Member{Node: uint64(i + 1), Role: protocol.RoleFollower, Up: free != down.DiskFree, About: &protocol.About{DiskFree: free, DiskFreeLimit: limit}}
			if m.About.Name = protocol.NodeName(m.Node); free == -3 {
				m.Role, m.About.DiskFree = protocol.RoleLearner, 0
			}
			members = append(members, m)
		}
		d.look(members)
		if got := *d.short.Load(); !slices.Equal(got, strings.Fields(step.want)) {
			t.Errorf("%s: %q", step.name, got)
		}
	}
}

// TestResourceMetrics checks the metrics of a follower's disk and open files.
func TestResourceMetrics(t *testing.T) {
	var out strings.Builder
	writeResources(&out, &protocol.About{DiskFree: 99, DiskFreeLimit: 100, Process: monitor.Process{Files: 7, MostFiles: 1024}})
	for _, want := range []string{"rabbitmq_process_open_fds 7\n", "rabbitmq_process_max_fds 1024\n", "rabbitmq_disk_space_available_bytes 99\n", "rabbitmq_disk_space_available_limit_bytes 100\n", "rabbitmq_alarms_free_disk_space_watermark 1\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("there is no %s in\n%s", want, &out)
		}
	}
	if problems, err := promlint.New(strings.NewReader(out.String())).Lint(); err != nil || len(problems) > 0 {
		t.Error(problems, err)
	}
	out.Reset()
	if writeResources(&out, &protocol.About{DiskFree: -1, DiskFreeLimit: 100}); strings.Contains(out.String(), "available_bytes") || !strings.Contains(out.String(), "watermark 0\n") {
		t.Errorf("free space is unknown:\n%s", &out)
	}
}
