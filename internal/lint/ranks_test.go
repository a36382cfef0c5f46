package lint

import (
	"fmt"
	"strings"
	"testing"
)

const self = "fiveways.dev/fiveways"

// ranks orders the layers of docs/architecture.md: a package imports only lower ranks and its own
// layer. The longest prefix counts.
var ranks = []struct {
	prefix string
	rank   int
}{
	{"cmd", 100},
	{"test", 100},
	{"examples", 100},
	{"internal/cli", 90},
	{"internal/cli/exitcode", 81},
	{"internal/cli/display", 81},
	{"internal/cli/input", 82},
	{"internal/cli/brokerapi", 83},
	{"internal/cli/brokeraddr", 84},
	{"internal/cli/listing", 84},
	{"internal/cli/access", 87},
	{"internal/cli/benches", 87},
	{"internal/cli/certificates", 87},
	{"internal/cli/clusters", 87},
	{"internal/cli/datafolder", 87},
	{"internal/cli/definitions", 87},
	{"internal/cli/jobs", 87},
	{"internal/cli/keys", 87},
	{"internal/cli/migration", 87},
	{"internal/cli/monitoring", 87},
	{"internal/cli/queues", 87},
	{"internal/cli/semaphores", 87},
	{"internal/cli/serving", 87},
	{"internal/cli/sqlinstall", 87},
	{"internal/cli/demo", 88},
	{".", 80},
	{"worker", 75},
	{"internal/inprocess", 77},
	{"internal/server", 70},
	{"internal/config", 65},
	{"internal/bench", 65},
	{"internal/sqlschema", 65},
	{"internal/protocol", 60},
	{"internal/protocol/resp", 63},
	{"internal/protocol/resp/respwire", 60},
	{"internal/protocol/resp/command", 61},
	{"internal/protocol/resp/jobs", 62},
	{"internal/protocol/resp/keys", 62},
	{"internal/protocol/resp/lists", 62},
	{"internal/protocol/resp/semaphores", 62},
	{"internal/protocol/resp/streams", 62},
	{"internal/amqperr", 52},
	{"internal/amqpcode", 30},
	{"internal/broker", 50},
	{"internal/broker/enginetest", 51},
	{"internal/broker/inspect", 51},
	{"internal/broker/jobs", 53},
	{"internal/broker/lists", 53},
	{"internal/broker/loans", 52},
	{"internal/broker/schedule", 51},
	{"internal/broker/routecache", 49},
	{"internal/broker/mailbox", 49},
	{"internal/broker/shard", 48},
	{"internal/broker/backpressure", 30},
	{"internal/broker/followtest", 48},
	{"internal/broker/inbox", 30},
	{"internal/broker/bodies", 47},
	{"internal/broker/shardlog", 47},
	{"internal/broker/streams", 53},
	{"internal/definitions", 46},
	{"internal/authn", 45},
	{"internal/logtest", 10},
	{"internal/throttle", 45},
	{"internal/declareargs", 52},
	{"internal/policies", 55},
	{"internal/keyspace", 50},
	{"internal/semaphores", 52},
	{"internal/monitor", 55},
	{"internal/traces", 55},
	{"internal/firehose", 55},
	{"semaphore", 75},
	{"internal/respclient", 72},
	{"internal/shovel", 58},
	{"internal/cluster", 65},
	{"internal/cluster/proxy", 64},
	{"internal/cluster/control", 66},
	{"internal/cluster/admission", 59},
	{"internal/replica", 45},
	{"internal/authority", 45},
	{"internal/statemachine", 45},
	{"internal/storage", 40},
	{"internal/core", 30},
	{"web", 10},
	{"internal/lint", 0},
}

// layer returns the layer of a package and its rank; "" if it has none.
func layer(pkg string) (prefix string, rank int) {
	for _, r := range ranks {
		if (pkg == r.prefix || strings.HasPrefix(pkg, r.prefix+"/")) && len(r.prefix) > len(prefix) {
			prefix, rank = r.prefix, r.rank
		}
	}
	return prefix, rank
}

// inModule converts an import path to the package's folder, relative to the module's root. ok is
// false for packages of other modules.
func inModule(imported string) (pkg string, ok bool) {
	if imported == self {
		return ".", true
	}
	return strings.CutPrefix(imported, self+"/")
}

// importRank checks the imports of code. Tests may import whatever they need.
func importRank(s source) (complaints []string) {
	if s.isTest() {
		return nil
	}
	from, rank := layer(s.pkg())
	if from == "" {
		return []string{fmt.Sprintf("%s: package %s has no rank in internal/lint", s.name, s.pkg())}
	}
	for imported, spec := range s.imports() {
		pkg, ours := inModule(imported)
		if !ours {
			continue
		}
		if to, lower := layer(pkg); to != from && lower >= rank {
			complaints = append(complaints, fmt.Sprintf("%s: %s may not import %s: only lower ranks", s.at(spec), from, pkg))
		}
	}
	return complaints
}

// ownProtocol keeps the protocols apart: each imports only what all share (internal/protocol
// itself, grpcwire, a transport that knows no service, and in tests protocoltest) and its own
// folder. The types of the AMQP wire format stay inside internal/protocol/amqp, the benchmark
// client and the tests.
func ownProtocol(s source) (complaints []string) {
	const protocols, transport, tests = "internal/protocol/", "grpcwire", "protocoltest"
	for imported, spec := range s.imports() {
		pkg, _ := inModule(imported)
		rest, isProtocol := strings.CutPrefix(pkg, protocols)
		if !isProtocol {
			continue
		}
		protocol, inside, _ := strings.Cut(rest, "/")
		own := s.pkg() == protocols+protocol || strings.HasPrefix(s.pkg(), protocols+protocol+"/")
		if strings.HasPrefix(s.pkg(), protocols) && !own && protocol != transport && protocol != tests {
			complaints = append(complaints, fmt.Sprintf("%s: one protocol may not import another, %s", s.at(spec), pkg))
		}
		outside := strings.HasPrefix(s.pkg(), "internal/bench/") || strings.HasPrefix(s.pkg(), "test/")
		if inside != "" && !own && !outside {
			complaints = append(complaints, fmt.Sprintf("%s: %s is for %s%s only", s.at(spec), pkg, protocols, protocol))
		}
	}
	return complaints
}

func TestImportRanks(t *testing.T) {
	everywhere(t, importRank)
	catches(t, importRank, []planted{
		{"downwards", "internal/server/a.go", `package a; import _ "fiveways.dev/fiveways/internal/core/queue"`, false},
		{"commands on what they share", "internal/cli/queues/a.go", `package a; import _ "fiveways.dev/fiveways/internal/cli/display"`, false},
		{"one kind of command on another", "internal/cli/queues/a.go", `package a; import _ "fiveways.dev/fiveways/internal/cli/jobs"`, true},
		{"what commands share on a command", "internal/cli/display/a.go", `package a; import _ "fiveways.dev/fiveways/internal/cli/jobs"`, true},
		{"a family of Redis commands on what they share", "internal/protocol/resp/streams/a.go", `package a; import _ "fiveways.dev/fiveways/internal/protocol/resp/command"`, false},
		{"one family of Redis commands on another", "internal/protocol/resp/streams/a.go", `package a; import _ "fiveways.dev/fiveways/internal/protocol/resp/semaphores"`, true},
		{"a family of Redis commands on the connection", "internal/protocol/resp/streams/a.go", `package a; import _ "fiveways.dev/fiveways/internal/protocol/resp"`, true},
		{"own layer", "internal/storage/store/a.go", `package a; import _ "fiveways.dev/fiveways/internal/storage/wal"`, false},
		{"others' packages", "internal/core/queue/a.go", `package a; import _ "example.org/x"`, false},
		{"a test looks up", "internal/core/queue/a_test.go", `package a; import _ "fiveways.dev/fiveways/internal/broker"`, false},
		{"upwards", "internal/core/queue/a.go", `package a; import _ "fiveways.dev/fiveways/internal/broker"`, true},
		{"sideways", "internal/bench/amqp/a.go", `package a; import _ "fiveways.dev/fiveways/internal/config"`, true},
		{"the embedding package from below", "internal/server/a.go", `package a; import _ "fiveways.dev/fiveways"`, true},
		{"a layer nobody ranked", "internal/util/a.go", `package a`, true},
	})
}

func TestProtocolsAreApart(t *testing.T) {
	everywhere(t, ownProtocol)
	catches(t, ownProtocol, []planted{
		{"its own wire", "internal/protocol/amqp/a.go", `package a; import _ "fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"`, false},
		{"the benchmark", "internal/bench/amqp/a.go", `package a; import _ "fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"`, false},
		{"composition", "internal/server/a.go", `package a; import _ "fiveways.dev/fiveways/internal/protocol/amqp"`, false},
		{"the shared part", "internal/protocol/resp/a.go", `package a; import _ "fiveways.dev/fiveways/internal/protocol"`, false},
		{"the shared transport", "internal/protocol/etcd/a.go", `package a; import _ "fiveways.dev/fiveways/internal/protocol/grpcwire"`, false},
		{"another protocol", "internal/protocol/resp/a.go", `package a; import _ "fiveways.dev/fiveways/internal/protocol/amqp"`, true},
		{"a protocol's wire from above", "internal/server/a.go", `package a; import _ "fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"`, true},
		{"a protocol's wire in the engine", "internal/broker/a_test.go", `package a; import _ "fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"`, true},
	})
}
