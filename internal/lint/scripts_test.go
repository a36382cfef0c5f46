package lint

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// stopsReading matches a pipe into a command that may exit before it has read everything. The
// command before it can then fail with SIGPIPE, which with pipefail randomly ends the script.
var stopsReading = regexp.MustCompile(`\| *(head\b|grep -\w*[qm]|sed -n '\d*q)`)

func TestScriptsReadPipesToTheEnd(t *testing.T) {
	checked := 0
	for _, pattern := range []string{".ci/*", "deploy/*/*", "test/*/*.sh", "test/*/*/*.sh", "examples/*/*/*.sh", "web/*/*.sh"} {
		files, err := filepath.Glob(filepath.Join("../..", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil || !strings.Contains(string(text), "pipefail") {
				continue // a folder, or a script in which only the last command of a pipe counts
			}
			checked++
			if found := stopsReading.FindString(string(text)); found != "" {
				t.Errorf("%s has %q under pipefail: a command that reads to the end is to be there", file, found)
			}
		}
	}
	if checked < 4 {
		t.Errorf("only %d scripts with pipefail were found", checked)
	}
	if !stopsReading.MatchString("sort -rn | head -10") || stopsReading.MatchString("sort -rn | awk 'NR <= 10'") {
		t.Error("the pattern does not tell head from awk")
	}
}
