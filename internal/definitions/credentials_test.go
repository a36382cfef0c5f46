package definitions

import (
	"encoding/json"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/core/access"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// TestCredentials checks how each kind of user authenticates, before and after a restart.
func TestCredentials(t *testing.T) {
	mem := vfs.NewMem()
	b := openNode(t, mem)
	must(t, put1(b.PutUser(catalog.UserSpec{Name: "u", Password: "old"})))
	must(t, b.SetPassword("u", "secret"))
	must(t, b.SetUserTags("u", []string{"x"})) // the verifier stays
	must(t, put1(b.PutUser(catalog.UserSpec{Name: "imported", Hash: hashOfP})))
	must(t, put1(b.PutUser(catalog.UserSpec{Name: "bare"})))
	must(t, put1(b.PutUser(catalog.UserSpec{Name: "near", Password: "secret"})))
	must(t, b.SetLoopbackOnly("near", true))
	for range 2 {
		proves := func(name string, loopback bool) string {
			c := b.Credentials(name, loopback)
			if c.Trusted && !c.HashOnly && c.Scram == "" {
				return "trusted"
			}
			keys, err := c.Scram.Keys()
			must(t, err)
			if access.NewScram("secret", keys.Salt) == c.Scram {
				return "scram"
			}
			if c.HashOnly { // with the verifier of a missing user, so that it looks like any other
				return "hash"
			}
			return "nobody"
		}
		for _, c := range []struct {
			name     string
			loopback bool
			want     string
		}{
			{"u", true, "scram"}, {"u", false, "scram"},
			{"imported", true, "hash"}, {"imported", false, "hash"},
			{"bare", true, "nobody"}, {"none", true, "nobody"}, {"", true, "nobody"},
			{"near", true, "scram"}, {"near", false, "nobody"},
			{"guest", true, "trusted"}, {"guest", false, "nobody"},
		} {
			if got := proves(c.name, c.loopback); got != c.want {
				t.Errorf("%s, loopback %v: %s, want %s", c.name, c.loopback, got, c.want)
			}
		}
		if b.Credentials("none", true) != b.Credentials("none", false) || b.Credentials("none", true) == b.Credentials("none2", true) {
			t.Error("users that are not there are told apart from those that are")
		}
		mustClose(t, b)
		b = openNode(t, mem)
	}
	must(t, b.SetLoopbackOnly("guest", false))
	if c := b.Credentials("guest", true); !c.HashOnly {
		t.Errorf("guest from everywhere: %+v", c)
	}
	must(t, b.SetLoopbackOnly("guest", true))
	must(t, b.SetPassword("guest", "secret"))
	if c := b.Credentials("guest", true); c.Scram == "" {
		t.Errorf("guest with a password of its own: %+v", c)
	}
	for _, u := range b.Users() {
		if shown, _ := json.Marshal(u); strings.Contains(string(shown), "SCRAM") {
			t.Errorf("a listing has the verifier: %s", shown)
		}
	}
	mustClose(t, b)
}
