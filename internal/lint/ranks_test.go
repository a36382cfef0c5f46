package lint

import (
	"fmt"
	"strings"
	"testing"
)

const self = "fiveways"

// ranks orders the layers of docs/architecture.md: a package imports only lower ranks, and its own layer. The longest prefix counts.
var ranks = []struct {
	prefix string
	rank   int
}{
	{"cmd", 100},
	{"test", 100},
	{"examples", 100},
	{"internal/cli", 90},
	{".", 80},
	{"worker", 75},
	{"internal/inprocess", 77},
	{"internal/server", 70},
	{"internal/config", 65},
	{"internal/authority", 65},
	{"internal/bench", 65},
	{"internal/sqlschema", 65},
	{"internal/protocol", 60},
	{"internal/refusals", 52},
	{"internal/broker", 50},
	{"internal/arguments", 52},
	{"internal/policies", 55},
	{"internal/keyspace", 50},
	{"internal/semaphores", 52},
	{"internal/monitor", 55},
	{"internal/traces", 55},
	{"semaphore", 75},
	{"internal/respclient", 72},
	{"internal/shovel", 58},
	{"internal/storage", 40},
	{"internal/core", 30},
	{"web", 10},
	{"internal/lint", 0},
}

// layer returns the layer of a package and its rank; "" when nobody gave it one.
func layer(pkg string) (prefix string, rank int) {
	for _, r := range ranks {
		if (pkg == r.prefix || strings.HasPrefix(pkg, r.prefix+"/")) && len(r.prefix) > len(prefix) {
			prefix, rank = r.prefix, r.rank
		}
	}
	return prefix, rank
}

// inModule turns an import path into the package's folder from the module's root; ok is false for others' packages.
func inModule(imported string) (pkg string, ok bool) {
	if imported == self {
		return ".", true
	}
	return strings.CutPrefix(imported, self+"/")
}

// importRank checks what code imports. Tests may look wherever they need to.
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

// ownProtocol keeps the protocols apart: each imports what all share (internal/protocol itself,
// grpcwire, a transport that knows no service, and in tests protocoltest) and its own folder. The
// types of the AMQP wire stay inside internal/protocol/amqp, the benchmark client and the tests.
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
		{"downwards", "internal/server/a.go", `package a; import _ "fiveways/internal/core/queue"`, false},
		{"own layer", "internal/storage/store/a.go", `package a; import _ "fiveways/internal/storage/wal"`, false},
		{"others' packages", "internal/core/queue/a.go", `package a; import _ "example.org/x"`, false},
		{"a test looks up", "internal/core/queue/a_test.go", `package a; import _ "fiveways/internal/broker"`, false},
		{"upwards", "internal/core/queue/a.go", `package a; import _ "fiveways/internal/broker"`, true},
		{"sideways", "internal/bench/amqp/a.go", `package a; import _ "fiveways/internal/config"`, true},
		{"the embedding package from below", "internal/server/a.go", `package a; import _ "fiveways"`, true},
		{"a layer nobody ranked", "internal/util/a.go", `package a`, true},
	})
}

func TestProtocolsAreApart(t *testing.T) {
	everywhere(t, ownProtocol)
	catches(t, ownProtocol, []planted{
		{"its own wire", "internal/protocol/amqp/a.go", `package a; import _ "fiveways/internal/protocol/amqp/amqpwire"`, false},
		{"the benchmark", "internal/bench/amqp/a.go", `package a; import _ "fiveways/internal/protocol/amqp/amqpwire"`, false},
		{"composition", "internal/server/a.go", `package a; import _ "fiveways/internal/protocol/amqp"`, false},
		{"the shared part", "internal/protocol/resp/a.go", `package a; import _ "fiveways/internal/protocol"`, false},
		{"the shared transport", "internal/protocol/etcd/a.go", `package a; import _ "fiveways/internal/protocol/grpcwire"`, false},
		{"another protocol", "internal/protocol/resp/a.go", `package a; import _ "fiveways/internal/protocol/amqp"`, true},
		{"a protocol's wire from above", "internal/server/a.go", `package a; import _ "fiveways/internal/protocol/amqp/amqpwire"`, true},
		{"a protocol's wire in the engine", "internal/broker/a_test.go", `package a; import _ "fiveways/internal/protocol/amqp/amqpwire"`, true},
	})
}
