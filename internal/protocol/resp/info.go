package resp

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"fiveways.dev/fiveways/internal/protocol/resp/keys"
	"fiveways.dev/fiveways/internal/storage/store"
)

// section is a section of INFO.
type section struct {
	name  string
	write func(c *conn, line func(format string, args ...any))
}

var sections = []section{
	{"Server", infoServer},
	{"Clients", infoClients},
	{"Memory", infoMemory},
	{"Persistence", infoPersistence},
	{"Stats", infoStats},
	{"Replication", infoReplication},
	{"CPU", infoCPU},
	{"Modules", infoNothing},
	{"Errorstats", infoNothing},
	{"Cluster", infoCluster},
	{"Keyspace", infoKeyspace},
}

// info implements INFO [section...].
func info(c *conn, args [][]byte) {
	var text strings.Builder
	for _, s := range sections {
		asked := len(args) == 1
		for _, a := range args[1:] {
			asked = asked || strings.EqualFold(string(a), s.name) || slices.Contains([]string{"all", "default", "everything"}, strings.ToLower(string(a)))
		}
		if !asked {
			continue
		}
		if text.Len() > 0 {
			text.WriteString("\r\n")
		}
		text.WriteString("# " + s.name + "\r\n")
		s.write(c, func(format string, args ...any) { fmt.Fprintf(&text, format+"\r\n", args...) })
	}
	c.w.Verbatim(text.String())
}

func infoNothing(*conn, func(string, ...any)) {}

func infoServer(c *conn, line func(string, ...any)) {
	up := time.Since(c.srv.started)
	line("redis_version:%s", redisVersion)
	line("redis_mode:standalone")
	line("fiveways_version:%s", c.srv.o.Version)
	line("fiveways_node:%s", c.srv.o.NodeName)
	line("os:%s %s", runtime.GOOS, runtime.GOARCH)
	line("arch_bits:%d", 32<<(^uint(0)>>63))
	line("process_id:%d", os.Getpid())
	if tcp, ok := c.nc.LocalAddr().(*net.TCPAddr); ok {
		line("tcp_port:%d", tcp.Port)
	}
	line("server_time_usec:%d", time.Now().UnixMicro())
	line("uptime_in_seconds:%d", int64(up.Seconds()))
	line("uptime_in_days:%d", int64(up.Hours()/24))
}

func infoClients(c *conn, line func(string, ...any)) {
	blocked := 0
	for _, other := range c.srv.conns.all() {
		if other.waits.active() {
			blocked++
		}
	}
	line("connected_clients:%d", c.srv.Connections())
	line("maxclients:%d", c.srv.maxClients())
	line("blocked_clients:%d", blocked)
}

func infoMemory(c *conn, line func(string, ...any)) {
	used := c.srv.broker.Stats().Memory
	line("used_memory:%d", used)
	line("used_memory_dataset:%d", used)
	line("maxmemory:%d", c.srv.o.MemoryLimit)
	line("maxmemory_policy:noeviction")
}

func infoPersistence(c *conn, line func(string, ...any)) {
	status := "ok"
	if c.srv.broker.Stats().LogState.Health != store.Healthy {
		status = "err"
	}
	line("loading:0")
	line("rdb_changes_since_last_save:0")
	line("rdb_bgsave_in_progress:0")
	line("aof_enabled:1")
	line("aof_rewrite_in_progress:0")
	line("aof_last_write_status:%s", status)
}

func infoStats(c *conn, line func(string, ...any)) {
	vhost := c.session.VHost()
	line("total_connections_received:%d", c.srv.ConnectionsOpened())
	line("total_commands_processed:%d", c.srv.processed.Load())
	line("rejected_connections:%d", c.srv.rejected.Load())
	line("expired_keys:0")
	line("evicted_keys:0")
	line("pubsub_channels:%d", len(c.srv.hub.listed(&byChannel, vhost, "*")))
	line("pubsub_patterns:%d", c.srv.hub.patternCount(vhost))
	line("pubsubshard_channels:%d", len(c.srv.hub.listed(&byShard, vhost, "*")))
}

func infoReplication(_ *conn, line func(string, ...any)) {
	line("role:master")
	line("connected_slaves:0")
	line("master_repl_offset:0")
}

func infoCPU(_ *conn, line func(string, ...any)) {
	system, user := cpuTime()
	line("used_cpu_sys:%.6f", system.Seconds())
	line("used_cpu_user:%.6f", user.Seconds())
}

func infoCluster(_ *conn, line func(string, ...any)) { line("cluster_enabled:0") }

// infoKeyspace counts the non-empty queues that the client may read. The client cannot see any
// other queues.
func infoKeyspace(c *conn, line func(string, ...any)) {
	if all, err := keys.Names(c.session, "*"); err == nil && len(all) > 0 {
		line("db0:keys=%d,expires=0,avg_ttl=0", len(all))
	}
}
