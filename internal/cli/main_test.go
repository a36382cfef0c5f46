package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/cli/exitcode"
	"fiveways.dev/fiveways/internal/config"
)

// command runs Main and returns its output and exit code.
func command(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	code = Main(t.Context(), args, &out, &errs)
	return out.String(), errs.String(), code
}

func TestExitCodes(t *testing.T) {
	empty := t.TempDir()
	file := filepath.Join(t.TempDir(), "f.toml")
	must(t, os.WriteFile(file, []byte("memory_limt = \"1GiB\"\n"), 0o600))
	for name, tc := range map[string]struct {
		args []string
		code int
		want string // in standard error
	}{
		"help":               {[]string{"--help"}, exitcode.OK, ""},
		"unknown command":    {[]string{"srve"}, exitcode.WrongUsage, "fiveways --help"},
		"command, then flag": {[]string{"queue", "lsit", "--data", "x"}, exitcode.WrongUsage, `unknown command "lsit" for "fiveways queue"; did you mean list?`},
		"far from any word":  {[]string{"foo"}, exitcode.WrongUsage, "unknown command \"foo\" for \"fiveways\"\n"},
		"unknown flag":       {[]string{"serve", "--amq", "x"}, exitcode.WrongUsage, "fiveways serve --help"},
		"argument too many":  {[]string{"version", "now"}, exitcode.WrongUsage, "fiveways version --help"},
		"argument missing":   {[]string{"doctor"}, exitcode.WrongUsage, "fiveways doctor --help"},
		"value out of range": {[]string{"serve", "--frame-max", "1"}, exitcode.WrongUsage, "from 4096 to 16777216"},
		"unknown key":        {[]string{"serve", "--config", file}, exitcode.WrongUsage, file + ":1: unknown key memory_limt; did you mean memory_limit?"},
		"bad address":        {[]string{"serve", "--amqp", "5672"}, exitcode.WrongUsage, "host:port"},
		"foreign address":    {[]string{"serve", "--data", empty, "--amqp", "192.0.2.1:5672", "--sql", "off", "--redis", "off", "--etcd", "off", "--http", "off", "--metrics", "off"}, exitcode.Failure, "one of this machine"},
		"missing file":       {[]string{"config", "--config", filepath.Join(empty, "none.toml")}, exitcode.WrongUsage, "none.toml"},
		"bench option":       {[]string{"bench", "amqp", "--size", "-1"}, exitcode.WrongUsage, "size is -1"},
		"no broker":          {[]string{"bench", "amqp", "--url", "amqp://127.0.0.1:1"}, exitcode.Failure, "fiveways serve"},
		"no log in folder":   {[]string{"doctor", empty}, exitcode.WrongUsage, "contains no message log"},
		"no folder":          {[]string{"doctor", filepath.Join(empty, "none")}, exitcode.Failure, "none"},
	} {
		t.Run(name, func(t *testing.T) {
			_, stderr, code := command(t, tc.args...)
			if code != tc.code || !strings.Contains(stderr, tc.want) {
				t.Errorf("exit code %d, want %d; printed %q, want %q in it", code, tc.code, stderr, tc.want)
			}
		})
	}
}

// TestHelpHasExamples checks that every command has examples and a description in one line.
func TestHelpHasExamples(t *testing.T) {
	for _, args := range [][]string{
		{}, {"serve"}, {"config"}, {"demo"}, {"bench"}, {"bench", "amqp"}, {"bench", "sql"}, {"doctor"}, {"version"}, {"user"}, {"vhost"}, {"permission"}, {"message"}, {"semaphore"},
	} {
		stdout, _, code := command(t, append(args, "--help")...)
		if code != exitcode.OK || !strings.Contains(stdout, "Examples:\n  ") {
			t.Errorf("fiveways %s --help: exit code %d, no examples in %q", strings.Join(args, " "), code, stdout)
		}
	}
}

func TestPageNamesEveryCommand(t *testing.T) {
	page, err := os.ReadFile("../../docs/commands.md")
	must(t, err)
	help, _, _ := command(t, "--help")
	for _, cmd := range commands(io.Discard, io.Discard).Commands() {
		name := cmd.Name()
		if !strings.Contains(help, "\n  "+name+" ") {
			t.Errorf("`fiveways --help` does not name %s", name)
		}
		if !strings.Contains(string(page), "`fiveways "+name) && !strings.Contains(string(page), "`"+name+"`") && name != "help" {
			t.Errorf("docs/commands.md does not name `fiveways %s`", name)
		}
	}
}

func TestConfigShowsOrigins(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f.toml")
	must(t, os.WriteFile(file, []byte("shards = 3\n"), 0o600))
	t.Setenv("FIVEWAYS_SYNC", "os")
	stdout, stderr, code := command(t, "config", "--config", file, "--memory-limit", "2GiB")
	if code != exitcode.OK {
		t.Fatal(stderr)
	}
	got := map[string]string{}
	for line := range strings.Lines(stdout) {
		if f := strings.Fields(line); len(f) == 3 {
			got[f[0]] = f[1] + " " + f[2]
		}
	}
	for key, want := range map[string]string{
		"shards": "3 " + file + ":1", "sync": "os FIVEWAYS_SYNC", "memory_limit": "2GiB --memory-limit", "amqp": "127.0.0.1:5672 default",
	} {
		if got[key] != want {
			t.Errorf("%s: %q, want %q", key, got[key], want)
		}
	}
	if len(got) != len(config.Options()) {
		t.Errorf("%d settings shown of %d", len(got), len(config.Options()))
	}
}

// TestVersion checks that all forms have the same content, and that programs can read the JSON.
func TestVersion(t *testing.T) {
	stdout, _, code := command(t, "version", "-o", "json")
	var b build
	if err := json.Unmarshal([]byte(stdout), &b); err != nil || code != exitcode.OK {
		t.Fatalf("exit code %d, %v, %q", code, err, stdout)
	}
	if b.Version == "" || b.Commit == "" || b.Go != runtime.Version() || b.Platform != runtime.GOOS+"/"+runtime.GOARCH {
		t.Errorf("%+v", b)
	}
	for _, args := range [][]string{{"version"}, {"--version"}} {
		if stdout, _, code := command(t, args...); code != exitcode.OK || stdout != "fiveways version "+b.String()+"\n" {
			t.Errorf("%q: exit code %d, %q, want that of %q", args, code, stdout, b)
		}
	}
}

func TestCommit(t *testing.T) {
	revision := debug.BuildSetting{Key: "vcs.revision", Value: "abc"}
	for want, settings := range map[string][]debug.BuildSetting{
		"unknown":   nil,
		"abc":       {revision, {Key: "vcs.modified", Value: "false"}},
		"abc+dirty": {{Key: "vcs.modified", Value: "true"}, revision},
	} {
		if got := commit(settings); got != want {
			t.Errorf("%v: %s, want %s", settings, got, want)
		}
	}
}

func TestCompletion(t *testing.T) {
	if stdout, _, code := command(t, "completion", "bash"); code != exitcode.OK || !strings.Contains(stdout, "fiveways") {
		t.Errorf("exit code %d, %d bytes", code, len(stdout))
	}
}

// must fails the test at once if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
