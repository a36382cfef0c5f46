package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fiveways/internal/config"
	"fiveways/internal/server"
)

// command runs Main and returns what it printed and its exit code.
func command(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	code = Main(t.Context(), args, &out, &errs)
	return out.String(), errs.String(), code
}

func TestExitCodes(t *testing.T) {
	empty := t.TempDir()
	file := filepath.Join(t.TempDir(), "f.toml")
	if err := os.WriteFile(file, []byte("memory_limt = \"1GiB\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		args []string
		code int
		want string // in standard error
	}{
		"help":               {[]string{"--help"}, exitOK, ""},
		"unknown command":    {[]string{"srve"}, exitUsage, "fiveways --help"},
		"unknown flag":       {[]string{"serve", "--amq", "x"}, exitUsage, "fiveways serve --help"},
		"argument too many":  {[]string{"version", "now"}, exitUsage, "fiveways version --help"},
		"argument missing":   {[]string{"doctor"}, exitUsage, "fiveways doctor --help"},
		"value out of range": {[]string{"serve", "--frame-max", "1"}, exitUsage, "from 4096 to 16777216"},
		"unknown key":        {[]string{"serve", "--config", file}, exitUsage, file + ":1: unknown key memory_limt; did you mean memory_limit?"},
		"bad address":        {[]string{"serve", "--amqp", "5672"}, exitUsage, "host:port"},
		"foreign address":    {[]string{"serve", "--data", empty, "--amqp", "192.0.2.1:5672", "--sql", "off", "--redis", "off", "--etcd", "off", "--http", "off", "--metrics", "off"}, exitFailure, "one of this machine"},
		"missing file":       {[]string{"config", "--config", filepath.Join(empty, "none.toml")}, exitUsage, "none.toml"},
		"bench option":       {[]string{"bench", "amqp", "--size", "-1"}, exitUsage, "size is -1"},
		"no broker":          {[]string{"bench", "amqp", "--url", "amqp://127.0.0.1:1"}, exitFailure, "fiveways serve"},
		"no log in folder":   {[]string{"doctor", empty}, exitUsage, "holds no message log"},
		"no folder":          {[]string{"doctor", filepath.Join(empty, "none")}, exitFailure, "none"},
	} {
		t.Run(name, func(t *testing.T) {
			_, stderr, code := command(t, tc.args...)
			if code != tc.code || !strings.Contains(stderr, tc.want) {
				t.Errorf("exit code %d, want %d; printed %q, want %q in it", code, tc.code, stderr, tc.want)
			}
		})
	}
}

// Every command teaches by example and explains itself in one line.
func TestHelpHasExamples(t *testing.T) {
	for _, args := range [][]string{
		{}, {"serve"}, {"config"}, {"demo"}, {"bench"}, {"bench", "amqp"}, {"bench", "sql"}, {"doctor"}, {"version"}, {"user"}, {"vhost"}, {"permission"}, {"message"}, {"semaphore"},
	} {
		stdout, _, code := command(t, append(args, "--help")...)
		if code != exitOK || !strings.Contains(stdout, "Examples:\n  ") {
			t.Errorf("fiveways %s --help: exit code %d, no examples in %q", strings.Join(args, " "), code, stdout)
		}
	}
}

func TestReadmeNamesEveryCommand(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	help, _, _ := command(t, "--help")
	_, rest, _ := strings.Cut(help, "Available Commands:\n")
	list, _, _ := strings.Cut(rest, "\n\n")
	if strings.Count(list, "\n") < 5 {
		t.Fatalf("no commands in %s", help)
	}
	for line := range strings.Lines(list) {
		name := strings.Fields(line)[0]
		if !strings.Contains(string(readme), "`fiveways "+name) && !strings.Contains(string(readme), "`"+name+"`") && name != "help" {
			t.Errorf("README.md does not name `fiveways %s`", name)
		}
	}
}

func TestConfigShowsOrigins(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f.toml")
	if err := os.WriteFile(file, []byte("shards = 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("FIVEWAYS_SYNC", "os")
	stdout, stderr, code := command(t, "config", "--config", file, "--memory-limit", "2GiB")
	if code != exitOK {
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

func TestVersion(t *testing.T) {
	if stdout, _, code := command(t, "version"); code != exitOK || !strings.HasPrefix(stdout, "fiveways ") {
		t.Errorf("exit code %d, %q", code, stdout)
	}
}

func TestCompletion(t *testing.T) {
	if stdout, _, code := command(t, "completion", "bash"); code != exitOK || !strings.Contains(stdout, "fiveways") {
		t.Errorf("exit code %d, %d bytes", code, len(stdout))
	}
}

func TestBannerIsHonest(t *testing.T) {
	cfg := config.Default()
	cfg.SQL = config.Off
	var out bytes.Buffer
	cfg.TLSCert, cfg.TLSPlain = "server.pem", config.PlainNever
	banner(&out, cfg, []server.Endpoint{
		{Protocol: "amqp", Address: "127.0.0.1:40001"}, {Protocol: "amqp", Address: "127.0.0.1:40002"}, {Protocol: "redis", Address: "127.0.0.1:40003"},
		{Protocol: "etcd", Address: "127.0.0.1:40004"}, {Protocol: "http", Address: "127.0.0.1:40005"}, {Protocol: "metrics", Address: "127.0.0.1:40006"},
	})
	lines := strings.Split(out.String(), "\n")
	for i, want := range []string{"Fiveways ", "amqp  127.0.0.1:40001, 127.0.0.1:40002 ", "sql   off", "redis 127.0.0.1:40003   try: redis-cli -u redis://127.0.0.1:40003 ", "etcd  127.0.0.1:40004   try: etcdctl --endpoints 127.0.0.1:40004 ", "http  127.0.0.1:40005   try: curl -u guest:guest http://127.0.0.1:40005/api/overview", "metrics 127.0.0.1:40006   try: curl http://127.0.0.1:40006/metrics", "Web page: http://127.0.0.1:40005/ (", "TLS is taken at every address; plain connections are not", "Stop with"} {
		if !strings.HasPrefix(lines[i], want) {
			t.Errorf("line %d is %q, want it to start with %q", i, lines[i], want)
		}
	}
	if !strings.Contains(lines[1], "amqp://127.0.0.1:40001'") {
		t.Errorf("no command to try in %q", lines[1])
	}
}

func TestDemoTable(t *testing.T) {
	rows := []demoRow{
		{scene: "direct", queue: "q", want: []string{"a", "b"}, got: []string{"a", "b"}, took: 1500 * time.Microsecond},
		{scene: "fanout", queue: "r", want: []string{"a"}},
	}
	var out bytes.Buffer
	if err := printRows(&out, rows); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	if !strings.Contains(lines[1], "1.50 ms") || !strings.HasSuffix(lines[1], "ok") || !strings.HasSuffix(lines[2], "WRONG") {
		t.Errorf("printed\n%s", &out)
	}
	if err := verdict(&out, rows); err == nil || !strings.Contains(err.Error(), "1 of 2") {
		t.Errorf("verdict %v", err)
	}
	if err := verdict(&out, rows[:1]); err != nil {
		t.Error(err)
	}
}
