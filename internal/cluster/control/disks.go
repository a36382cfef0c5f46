package control

import (
	"fmt"
	"io"
	"net/http"
	"sync/atomic"

	"fiveways.dev/fiveways/internal/protocol"
)

// disks knows which disks of the cluster are nearly full. A follower whose disk is full confirms
// nothing, so if the other voters are no majority, nothing is committed any more: not even the
// acknowledgements that would make room.
type disks struct {
	low   map[uint64]bool // by node, at the last look; only the goroutine of watch uses it
	short atomic.Pointer[[]string]
}

// look notes which nodes are low on disk, and whether the voters that are up and not low are too
// few for a majority.
func (d *disks) look(members []protocol.Member) {
	voters, roomy := 0, 0
	var names []string
	for i := range members {
		m := &members[i]
		if !m.Votes() {
			continue
		}
		voters++
		d.low[m.Node] = m.Up && m.About != nil && staysLow(m.About, d.low[m.Node])
		switch {
		case d.low[m.Node]:
			names = append(names, m.Name())
		case m.Up:
			roomy++
		}
	}
	if roomy > voters/2 {
		names = nil
	}
	d.short.Store(&names)
}

// staysLow is low for a node that was low at the last look: as for the alarm, a tenth of the limit
// must be to spare before it is not.
func staysLow(a *protocol.About, was bool) bool {
	if was {
		limit := uint64(a.DiskFreeLimit) // its tenth more may not fit into an int64
		return a.DiskFree >= 0 && uint64(a.DiskFree) < limit+limit/10
	}
	return a.LowOnDisk()
}

// ShortOfDisk returns the names of the voters that are low on disk, if the others that are up are
// no majority, or else nil. It is up to some seconds old.
func (c *Control) ShortOfDisk() []string {
	if names := c.disks.short.Load(); names != nil {
		return *names
	}
	return nil
}

// FollowerMetrics serves the metrics of a node that does not lead: those of Metrics, and those of
// its disk and its open files, which have the same names in the metrics of the broker on the
// leader.
func (c *Control) FollowerMetrics(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", metricsType)
	a := c.about()
	writeResources(w, &a)
	c.WriteMetrics(w)
}

func writeResources(w io.Writer, a *protocol.About) {
	gauge := func(name, help string, v float64) {
		fmt.Fprintf(w, "# HELP rabbitmq_%s %s\n# TYPE rabbitmq_%[1]s gauge\nrabbitmq_%[1]s %[3]v\n", name, help, v)
	}
	gauge("process_open_fds", "Open files, including sockets", float64(a.Process.Files))
	gauge("process_max_fds", "Maximum number of open files", float64(a.Process.MostFiles))
	if a.DiskFree >= 0 {
		gauge("disk_space_available_bytes", "Free disk space of the data folder", float64(a.DiskFree))
	}
	gauge("disk_space_available_limit_bytes", "Free disk space below which the node counts as low on disk", float64(max(a.DiskFreeLimit, 0)))
	gauge("alarms_free_disk_space_watermark", "1 while the node is low on disk", number(a.LowOnDisk()))
}
