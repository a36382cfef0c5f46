package drivers

import (
	"os"
	"strings"
	"testing"
)

// served is the output of every program in examples/sql.
const served = "espresso for table 1: the machine is broken\nespresso for table 1: made\ntea for table 2: made\n"

// withExamples runs the programs of examples/sql and checks their output. A program whose tools are
// missing is skipped.
func withExamples(t *testing.T, s target) {
	const folder = "../../../examples/sql/"
	check := func(name string, start func(t *testing.T) string) {
		t.Run(name, func(t *testing.T) {
			if got := start(t); got != served {
				t.Errorf("it printed %q, want %q", got, served)
			}
		})
	}
	check("go", func(t *testing.T) string { return run(t, s, nil, "go", "run", folder+"go") })
	check("python", func(t *testing.T) string {
		setUp(t, "python", "python3")
		return run(t, s, nil, ".venv/bin/python", folder+"python/coffee.py")
	})
	check("node", func(t *testing.T) string {
		setUp(t, "node", "node", "npm")
		return run(t, s, []string{"NODE_PATH=node/node_modules"}, "node", folder+"node/coffee.js")
	})
	check("java", func(t *testing.T) string {
		setUp(t, "java", "java", "javac", "mvn")
		classPath, err := os.ReadFile("java/.build/classpath")
		must(t, err)
		user, place, _ := strings.Cut(strings.TrimPrefix(s.url, "postgres://"), "@")
		return run(t, s, []string{"JDBC_URL=jdbc:postgresql://" + place + "&user=" + user, "CLASSPATH=" + string(classPath)}, "java", folder+"java/Coffee.java")
	})
}
