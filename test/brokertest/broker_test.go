package brokertest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// standIn replaces the binary of this test by a shell script.
func standIn(t *testing.T, script string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fiveways")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	build.path = path
	t.Cleanup(func() { build.path = "" })
}

const serving = `echo "starting with $*"
echo "amqp      127.0.0.1:4567   try: this"
echo "sql       127.0.0.1:4568"
echo "redis     127.0.0.1:4569"
echo "etcd      127.0.0.1:4570"
echo "Stop with Ctrl-C or SIGTERM."
`

func TestStartReadsTheAddress(t *testing.T) {
	standIn(t, serving+"exec sleep 60")
	b, err := Start(t.Context(), "/some/folder", "--sync", "os")
	if err != nil {
		t.Fatal(err)
	}
	defer b.Kill()
	if b.Addr() != "127.0.0.1:4567" || b.SQLAddr() != "127.0.0.1:4568" || b.RedisAddr() != "127.0.0.1:4569" || b.EtcdAddr() != "127.0.0.1:4570" || b.URL() != "amqp://guest:guest@127.0.0.1:4567/%2f" {
		t.Errorf("address %q, URL %q", b.Addr(), b.URL())
	}
	if want := "starting with serve --data /some/folder --amqp 127.0.0.1:0 "; !strings.Contains(b.Log(), want) || !strings.Contains(b.Log(), " --sync os\n") {
		t.Errorf("log %q", b.Log())
	}
	if peak, err := b.PeakRSS(); err != nil || peak < 1<<10 || peak > 1<<30 {
		t.Errorf("peak RSS %d, %v", peak, err)
	}
}

func TestStartFailsWithTheOutput(t *testing.T) {
	standIn(t, "echo disk is full >&2; exit 3")
	_, err := Start(t.Context(), t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "disk is full") {
		t.Errorf("error %v", err)
	}
}

func TestKillEndsTheProcess(t *testing.T) {
	standIn(t, serving+"exec sleep 60")
	b, err := Start(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b.Kill()
	b.Kill() // a second kill has no effect
	select {
	case <-b.Exited():
	default:
		t.Error("Kill returned before the process was gone")
	}
	if b.Stop() == nil {
		t.Error("Stop of a killed process tells no error")
	}
}

func TestStopTellsTheExitCode(t *testing.T) {
	for script, ok := range map[string]bool{
		"trap 'exit 0' TERM; sleep 5 & wait": true,
		"trap 'exit 4' TERM; sleep 5 & wait": false,
	} {
		standIn(t, strings.Replace(script, "sleep 5 &", serving+"sleep 5 >/dev/null 2>&1 &", 1))
		b, err := Start(t.Context(), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Stop(); (err == nil) != ok {
			t.Errorf("%s: Stop says %v", script, err)
		}
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	var log tail
	log.Write([]byte(strings.Repeat("a", maxTailBytes)))
	log.Write([]byte("end"))
	if s := log.String(); len(s) != maxTailBytes || !strings.HasSuffix(s, "aend") {
		t.Errorf("%d bytes ending in %q", len(s), s[len(s)-5:])
	}
}

// TestSourcesAreNoted checks that the log of `go test`, which says what a cached result depends on,
// lists the sources.
func TestSourcesAreNoted(t *testing.T) {
	if os.Getenv("NOTE_SOURCES") != "" {
		if err := noteSources(); err != nil {
			t.Fatal(err)
		}
		return
	}
	log := filepath.Join(t.TempDir(), "log")
	cmd := exec.Command(os.Args[0], "-test.run=^TestSourcesAreNoted$", "-test.testlogfile="+log)
	cmd.Env = append(os.Environ(), "NOTE_SOURCES=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	noted, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"/cmd/fiveways\n", "/internal/broker\n", "/web/css\n", "/go.mod\n"} {
		if !strings.Contains(string(noted), want) {
			t.Errorf("%q is not noted", want)
		}
	}
}
