package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func writeFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDefaultIsValid(t *testing.T) {
	if err := Default().Validate(); err != nil {
		t.Fatal(err)
	}
}

func TestLayers(t *testing.T) {
	file := writeFile(t, "# four layers\nmemory_limit = \"1GiB\"\nshards = 3\nsync = \"os\"\nheartbeat = '10s'\n")
	c, from, err := Load(Sources{
		File:  file,
		Env:   []string{"HOME=/", "FIVEWAYS_SHARDS=4", "FIVEWAYS_SYNC=batch"},
		Flags: map[string]string{"sync": "always"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if c.MemoryLimit != 1<<30 || c.Shards != 4 || c.Sync != SyncAlways || c.Heartbeat != 10*time.Second || c.FrameMax != 131072 {
		t.Errorf("wrong values: %+v", c)
	}
	want := Origins{"memory_limit": file + ":2", "shards": "FIVEWAYS_SHARDS", "sync": "--sync", "frame_max": "default", "heartbeat": file + ":5"}
	for key, origin := range want {
		if from[key] != origin {
			t.Errorf("%s: origin %q, want %q", key, from[key], origin)
		}
	}
}

// An integer of the file may be written in all ways of TOML.
func TestIntegersOfTheFile(t *testing.T) {
	c, _, err := Load(Sources{File: writeFile(t, "memory_limit = 1_000_000_000\nframe_max = 0x2000\nmax_connections = +5\nshards = 2\n")})
	if err != nil || c.MemoryLimit != 1e9 || c.FrameMax != 8192 || c.MaxConnections != 5 || c.Shards != 2 {
		t.Errorf("%v, %d, %d, %d, %d", err, c.MemoryLimit, c.FrameMax, c.MaxConnections, c.Shards)
	}
	large := "99999999999999999999"
	if _, _, err := Load(Sources{File: writeFile(t, "shards = "+large+"\n")}); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), large) {
		t.Errorf("out of range: %v", err)
	}
}

// Some editors begin a file with a byte order mark.
func TestFileWithByteOrderMark(t *testing.T) {
	c, from, err := Load(Sources{File: writeFile(t, "\ufeffshards = 2\n")})
	if err != nil || c.Shards != 2 || !strings.HasSuffix(from["shards"], ":1") {
		t.Errorf("%v, %d from %s", err, c.Shards, from["shards"])
	}
}

func TestFileFromEnvironment(t *testing.T) {
	file := writeFile(t, "node_name = \"n1\"\n")
	c, _, err := Load(Sources{Env: []string{EnvFile + "=" + file}})
	if err != nil || c.NodeName != "n1" {
		t.Fatalf("node_name %q, err %v", c.NodeName, err)
	}
}

func TestErrorsNameKeyAndPlace(t *testing.T) {
	for name, tc := range map[string]struct {
		file  string
		env   string
		flags map[string]string
		want  []string // all must be in the message
	}{
		"unknown key near":    {file: "data = \"d\"\nmemory_limt = 5\n", want: []string{"f.toml:2", "memory_limt", "did you mean memory_limit?"}},
		"unknown key far":     {file: "frobnicate = 5\n", want: []string{"f.toml:1", "frobnicate", "fiveways config"}},
		"unknown variable":    {env: "FIVEWAYS_SHARD=2", want: []string{"FIVEWAYS_SHARD", "did you mean FIVEWAYS_SHARDS?"}},
		"lower-case variable": {env: "FIVEWAYS_shards=2", want: []string{"unknown key FIVEWAYS_shards"}},
		"out of range":        {file: "\n\nframe_max = 12\n", want: []string{"frame_max", "f.toml:3", "from 4096 to 16777216"}},
		"range of a size":     {env: "FIVEWAYS_MAX_MESSAGE_SIZE=1TiB", want: []string{"max_message_size", "from 1KiB to 512MiB", "FIVEWAYS_MAX_MESSAGE_SIZE"}},
		"choice":              {flags: map[string]string{"sync": "never"}, want: []string{"sync", "always, batch, os", "--sync"}},
		"address":             {flags: map[string]string{"amqp": "5672"}, want: []string{"amqp", "host:port", "--amqp"}},
		"duration step":       {flags: map[string]string{"heartbeat": "1500ms"}, want: []string{"heartbeat", "in steps of 1s"}},
		"wrong type":          {file: "shards = [1]\n", want: []string{"shards", "f.toml:1", "string or an integer"}},
		"table":               {file: "[amqp]\nport = 1\n", want: []string{"f.toml:1", "[amqp] is a table"}},
		"twice":               {file: "shards = 1\nshards = 2\n", want: []string{"f.toml:2", "already set at", "f.toml:1"}},
		"syntax":              {file: "shards = 1\nsync = \n", want: []string{"f.toml:2"}},
		"shared port":         {flags: map[string]string{"sql": "127.0.0.1:5672"}, want: []string{"sql", "already the address of amqp"}},
		"all at once":         {env: "FIVEWAYS_SHARDS=-1", flags: map[string]string{"sync": "x"}, want: []string{"shards", "sync"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := Sources{Flags: tc.flags, Env: []string{tc.env}}
			if tc.file != "" {
				s.File = writeFile(t, tc.file)
			}
			_, _, err := Load(s)
			if !errors.Is(err, ErrInvalid) {
				t.Fatalf("error %v, want ErrInvalid", err)
			}
			for _, w := range tc.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q lacks %q", err, w)
				}
			}
		})
	}
}

func TestMissingFile(t *testing.T) {
	_, _, err := Load(Sources{File: filepath.Join(t.TempDir(), "none.toml")})
	if !errors.Is(err, ErrInvalid) || !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("error %v", err)
	}
}

// The example file must load, contain every key, and show the defaults.
func TestExampleFile(t *testing.T) {
	c, from, err := Load(Sources{File: "../../docs/fiveways.toml"})
	if err != nil {
		t.Fatal(err)
	}
	if c != Default() {
		t.Errorf("example gives %+v, defaults are %+v", c, Default())
	}
	for _, o := range Options() {
		if from[o.Key] == "default" {
			t.Errorf("the example does not mention %s", o.Key)
		}
	}
}

// Metrics are optional only if no source sets their address, not even to the default.
func TestMetricsOptional(t *testing.T) {
	given := Default().Metrics
	for name, s := range map[string]Sources{
		"flag":        {Flags: map[string]string{"metrics": given}},
		"environment": {Env: []string{"FIVEWAYS_METRICS=" + given}},
		"file":        {File: writeFile(t, "metrics = \""+given+"\"\n")},
	} {
		if c, _, err := Load(s); err != nil || c.MetricsOptional {
			t.Errorf("%s: optional %v, err %v", name, c.MetricsOptional, err)
		}
	}
	if c, _, err := Load(Sources{}); err != nil || !c.MetricsOptional {
		t.Errorf("default: optional %v, err %v", c.MetricsOptional, err)
	}
}

func TestDefaultUser(t *testing.T) {
	const user, pass = "FIVEWAYS_DEFAULT_USER=alice", EnvDefaultPass + "=secret"
	for name, c := range map[string]struct {
		s    Sources
		want string // in the error; "": no error
	}{
		"both":             {Sources{Env: []string{user, pass}}, ""},
		"with a file":      {Sources{Env: []string{user, "FIVEWAYS_DEFAULT_PASS_FILE=/run/secrets/p"}}, ""},
		"no password":      {Sources{Env: []string{user}}, EnvDefaultPass},
		"an empty one":     {Sources{Env: []string{user, EnvDefaultPass + "="}}, EnvDefaultPass},
		"no user":          {Sources{Env: []string{pass}}, "set default_user"},
		"two passwords":    {Sources{Env: []string{user, pass}, Flags: map[string]string{"default_pass_file": "p"}}, "given twice"},
		"password as flag": {Sources{Env: []string{user}, Flags: map[string]string{"default_pass": "secret"}}, "unknown key default_pass"},
	} {
		_, origins, err := Load(c.s)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if _, shown := origins["default_pass"]; shown {
			t.Errorf("%s: the password is among the settings", name)
		}
	}
}
