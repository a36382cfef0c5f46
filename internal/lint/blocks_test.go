package lint

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// played are the pages whose sessions (```console blocks) and named programs are run by a test,
// with that test.
var played = map[string]string{
	"README.md":                         "test/tutorials/tutorials_test.go",
	"docs/tutorials/from-rabbitmq.md":   "test/tutorials/tutorials_test.go",
	"docs/tutorials/from-etcd.md":       "test/tutorials/tutorials_test.go",
	"docs/features/browsing.md":         "test/tutorials/tutorials_test.go",
	"docs/features/consume-after.md":    "test/tutorials/tutorials_test.go",
	"docs/features/deduplication.md":    "test/tutorials/tutorials_test.go",
	"docs/features/message-groups.md":   "test/tutorials/tutorials_test.go",
	"docs/features/recent-history.md":   "test/tutorials/tutorials_test.go",
	"docs/features/selectors.md":        "test/tutorials/tutorials_test.go",
	"docs/management/tls.md":            "test/tutorials/tutorials_test.go",
	"docs/protocols/amqp.md":            "test/tutorials/tutorials_test.go",
	"docs/protocols/etcd.md":            "test/clients/etcd_page_test.go",
	"docs/protocols/etcd-auth.md":       "test/clients/etcd_page_test.go",
	"docs/protocols/etcd-queues.md":     "test/clients/etcd_page_test.go",
	"docs/protocols/http.md":            "test/clients/http_page_test.go",
	"docs/protocols/redis.md":           "test/jobs/page_test.go",
	"docs/protocols/sql.md":             "test/sql/drivers/page_test.go",
	"docs/features/delayed-messages.md": "test/tutorials/tutorials_test.go",
	"docs/protocols/etcd-semaphores.md": "test/clients/etcd_page_test.go",
	"docs/tutorials/from-job-queues.md": "test/tutorials/tutorials_test.go",
	"docs/tutorials/from-postgresql.md": "test/tutorials/tutorials_test.go",
	"docs/tutorials/from-sidekiq.md":    "test/tutorials/tutorials_test.go",
}

const (
	aFragment = "lines of a larger program"
	aStart    = "starts the broker that the test has started"
	ofHelp    = "like the examples of --help, which internal/cli plays"
	ofOthers  = "needs another server, or a machine of the reader's"
	programs  = "runs the programs of the folder, as test/clients and test/sql/drivers do"
)

// besides are the pages with other blocks of commands and programs, with the reason why no test
// runs these as they are.
var besides = map[string]string{
	"README.md":                                 "an archive of a release; " + aStart,
	"docs/access.md":                            ofHelp,
	"docs/cli.md":                               ofHelp,
	"docs/cluster.md":                           ofOthers + "; test/cluster and test/packaging do the same",
	"docs/compatibility.md":                     aFragment,
	"docs/operations.md":                        ofOthers,
	"docs/performance.md":                       "a profile of ten seconds",
	"docs/features/carmine.md":                  ofOthers + "; docs/tutorials/from-job-queues.md moves such a queue",
	"docs/features/consumers.md":                aFragment,
	"docs/features/delayed-messages.md":         aFragment + "; " + ofHelp,
	"docs/features/embedding.md":                "its programs are built by test/packaging",
	"docs/releasing.md":                         "test/packaging makes a release, and renames the module",
	"docs/features/priorities.md":               aFragment,
	"docs/features/retries.md":                  aFragment,
	"docs/features/semaphores-in-postgresql.md": "its statements are played by test/semaphore",
	"docs/features/semaphores.md":               "its program is played by test/clients",
	"docs/features/sync.md":                     aFragment,
	"docs/features/streams.md":                  "its program is played by test/clients",
	"docs/features/workers.md":                  aFragment,
	"docs/management/api.md":                    "a list of any length; test/management asks the same",
	"docs/management/metrics.md":                "metrics of a moment; a profile of ten seconds",
	"docs/management/policies.md":               ofHelp,
	"docs/management/shovels.md":                ofOthers,
	"docs/management/tls.md":                    aStart,
	"docs/protocols/amqp.md":                    ofHelp,
	"docs/protocols/etcd-queues.md":             aFragment,
	"docs/protocols/etcd-semaphores.md":         aFragment,
	"docs/protocols/etcd.md":                    ofOthers + "; " + aStart,
	"docs/protocols/redis.md":                   aStart,
	"docs/protocols/sql-in-postgresql.md":       "test/sql/foreign runs the same statements",
	"docs/protocols/sql.md":                     aStart,
	"docs/tutorials/from-etcd.md":               aStart,
	"docs/tutorials/from-job-queues.md":         aStart,
	"docs/tutorials/from-sidekiq.md":            aStart,
	"docs/tutorials/from-postgresql.md":         aStart,
	"docs/tutorials/from-rabbitmq.md":           aStart,
	"examples/etcd/README.md":                   programs,
	"examples/http/README.md":                   programs,
	"examples/jobs/README.md":                   programs,
	"examples/semaphores/README.md":             programs,
	"examples/sql/README.md":                    programs,
}

var fencedBlock = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$")

// notTyped are the kinds of blocks that are output, data or drawings.
var notTyped = []string{"", "text", "json", "mermaid"}

// namedFile matches the first line of a program that is run.
var namedFile = regexp.MustCompile(`^(#|//|--) [\w.-]+\.\w+\n`)

// TestBlocksArePlayed checks that everything that a page asks a reader to type is run by a test, or
// is listed above.
func TestBlocksArePlayed(t *testing.T) {
	for _, path := range pages(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		page := filepath.ToSlash(strings.TrimPrefix(path, "../../"))
		sessions, others := false, false
		for _, block := range fencedBlock.FindAllStringSubmatch(string(text), -1) {
			switch kind := block[1]; {
			case kind == "console":
				sessions = true
			case !slices.Contains(notTyped, kind) && !namedFile.MatchString(block[2]):
				others = true
			}
		}
		test, found := played[page]
		if found != sessions {
			t.Errorf("%s has sessions: %v; the test that plays them: %q", page, sessions, test)
		}
		if found && !mentions(t, test, page) {
			t.Errorf("%s does not play %s", test, page)
		}
		if why, listed := besides[page]; listed != others {
			t.Errorf("%s has blocks that are not played: %v; why: %q", page, others, why)
		}
	}
}

// mentions reports whether a Go file contains the name of a page.
func mentions(t *testing.T, file, page string) bool {
	t.Helper()
	code, err := os.ReadFile(filepath.Join("../..", file))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(code), strings.TrimSuffix(filepath.Base(page), ".md"))
}
