package cli

import (
	"crypto/tls"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/cli/exitcode"
)

func TestSelfSigned(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "certs")
	stdout, stderr, code := command(t, "tls", "self-signed", "--out", dir, "--host", "broker.example", "--client", "alice", "--days", "7")
	if code != exitcode.OK || strings.Count(stdout, "\n") != 5 {
		t.Fatalf("%d: %s%s", code, stdout, stderr)
	}
	for _, name := range []string{"server", "alice"} {
		pair, err := tls.LoadX509KeyPair(filepath.Join(dir, name+".pem"), filepath.Join(dir, name+"-key.pem"))
		must(t, err)
		if want := map[string]string{"server": "broker.example", "alice": "alice"}[name]; pair.Leaf.Subject.CommonName != want {
			t.Errorf("%s is %s", name, pair.Leaf.Subject)
		}
		if info, err := os.Stat(filepath.Join(dir, name+"-key.pem")); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the key of %s: %v, %v", name, info.Mode(), err)
		}
	}
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"--out", dir}, "exists already"},
		{[]string{"--out", dir + "2", "--client", "../alice"}, "cannot be the name of a file"},
		{[]string{"--out", dir + "2", "--days", "0"}, "--days"},
	} {
		_, stderr, code := command(t, append([]string{"tls", "self-signed"}, tc.args...)...)
		if code != exitcode.WrongUsage || !strings.Contains(stderr, tc.want) {
			t.Errorf("%v: %d, %s", tc.args, code, stderr)
		}
		if _, err := os.Stat(dir + "2"); err == nil {
			t.Errorf("%v: the folder was made", tc.args)
		}
	}
}
