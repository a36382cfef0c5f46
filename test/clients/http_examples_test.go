package clients

import (
	"os"
	"os/exec"
	"testing"

	"fiveways.dev/fiveways/test/brokertest"
)

// TestHTTPExamples runs the programs of examples/http, each twice on one broker, and checks that
// they print what their README says and leave nothing behind. A program whose tools are missing is
// skipped.
func TestHTTPExamples(t *testing.T) {
	const folder = "../../examples/http/"
	printed := blocks(t, folder+"README.md", "")[0]
	for name, words := range map[string][]string{
		"curl": {"sh", folder + "curl/mails.sh"}, "python": {"python3", folder + "python/mails.py"}, "node": {"node", folder + "node/mails.js"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(words[0]); err != nil {
				skipOrFail(t, err)
			}
			b := brokertest.Run(t, "--http", "127.0.0.1:0")
			for range 2 {
				prints(t, b, printed, words...)
			}
		})
	}
}

// skipOrFail skips a test whose tool is missing, or fails it where all tests must run.
func skipOrFail(t *testing.T, err error) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(err)
	}
	t.Skip(err)
}
