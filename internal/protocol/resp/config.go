package resp

import (
	"slices"
	"strconv"
	"strings"

	"fiveways.dev/fiveways/internal/core/glob"
)

// setting is a parameter of the Redis configuration with the corresponding value of this broker.
// Settings exist for clients that read them on startup. They cannot be changed here, only in the
// broker's own configuration.
type setting struct{ name, value string }

func (s *Server) settings() []setting {
	most := s.o.MaxMessageSize + requestSlack
	return []setting{
		{"appendfsync", s.o.Fsync},
		{"appendonly", "yes"},
		{"bind", ""},
		{"client-output-buffer-limit", "normal 0 0 0 slave 0 0 0 pubsub " + decimal(mostUnread) + " 0 0"},
		{"databases", "1"},
		{"maxclients", strconv.Itoa(s.maxClients())},
		{"maxmemory", decimal(s.o.MemoryLimit)},
		{"maxmemory-policy", "noeviction"},
		{"notify-keyspace-events", ""},
		{"proto-max-bulk-len", decimal(most)},
		{"save", ""},
		{"slave-read-only", "yes"},
		{"timeout", "0"},
	}
}

// unlimited is the value reported where only the system sets a limit.
const unlimited = 1_000_000

func (s *Server) maxClients() int {
	if n := s.o.Connections.Max(); n > 0 {
		return n
	}
	return unlimited
}

// configGet implements CONFIG GET pattern...
func configGet(c *conn, args [][]byte) {
	var found []setting
	for _, s := range c.srv.settings() {
		if slices.ContainsFunc(args[2:], func(p []byte) bool { return glob.Match(strings.ToLower(string(p)), s.name) }) {
			found = append(found, s)
		}
	}
	c.w.Map(len(found))
	for _, s := range found {
		c.w.BulkString(s.name)
		c.w.BulkString(s.value)
	}
}

func configRefused(c *conn, _ [][]byte) {
	c.w.Error("ERR settings are those of the broker: its configuration file, its environment and its flags")
}

func decimal[N ~int | ~int64](n N) string { return strconv.FormatInt(int64(n), 10) }
