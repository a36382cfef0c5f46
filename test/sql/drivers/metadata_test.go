package drivers

import (
	"os"
	"strings"
	"testing"
)

// withMetadata runs Python libraries that query the catalogs.
func withMetadata(t *testing.T, s target) {
	setUp(t, "python", "python3")
	sameAnswers(t, s, "testdata/metadata.python.txt", run(t, s, nil, ".venv/bin/python", "python/metadata.py"))
}

// withJDBCMetadata calls every method of DatabaseMetaData.
func withJDBCMetadata(t *testing.T, s target) {
	setUp(t, "java", "java", "javac", "mvn")
	classPath, err := os.ReadFile("java/.build/classpath")
	must(t, err)
	sameAnswers(t, s, "testdata/metadata.java.txt", run(t, s, []string{"CLASSPATH=java/.build/classes:" + string(classPath)}, "java", "Metadata"))
}

// different are the beginnings of answers that differ from PostgreSQL's: versions, addresses,
// users, and grants, of which the catalogs show none.
var different = []string{"getDatabase", "getURL/", "getUserName/", "getConnection/", "getDriver", "getTablePrivileges/", "getColumnPrivileges/"}

// sameAnswers compares lines with those recorded on PostgreSQL.
func sameAnswers(t *testing.T, s target, file, out string) {
	t.Helper()
	var kept []string
lines:
	for line := range strings.Lines(out) {
		for _, d := range different {
			if strings.HasPrefix(line, d) {
				continue lines
			}
		}
		kept = append(kept, line)
	}
	if *rewrite && s.name == "postgres" {
		must(t, os.WriteFile(file, []byte(strings.Join(kept, "")), 0o644))
		return
	}
	text, err := os.ReadFile(file)
	must(t, err)
	want := strings.SplitAfter(string(text), "\n")
	want = want[:len(want)-1]
	for i := range max(len(want), len(kept)) {
		switch {
		case i >= len(kept):
			t.Errorf("nothing, want %s", want[i])
		case i >= len(want):
			t.Errorf("too much: %s", kept[i])
		case kept[i] != want[i]:
			t.Errorf("got  %swant %s", kept[i], want[i])
		}
	}
}
