package definitions

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"fiveways.dev/fiveways/internal/core/access"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// slowRuns returns how many slow hashes fn computes.
func slowRuns(b *node, fn func()) int64 {
	before := b.SlowHashes()
	fn()
	return b.SlowHashes() - before
}

func TestLogin(t *testing.T) {
	mem := vfs.NewMem()
	b := openNode(t, mem)
	must(t, put1(b.PutUser(catalog.UserSpec{Name: "slow", Password: "secret"})))
	must(t, put1(b.PutUser(catalog.UserSpec{Name: "imported", Hash: hashOfP})))
	must(t, put1(b.PutUser(catalog.UserSpec{Name: "token", Tags: []string{"monitoring"}})))
	mustClose(t, b)
	b = openNode(t, mem)
	defer mustClose(t, b)
	for _, c := range []struct {
		user, password string
		loopback       bool
		why            string // "": accepted
		slow           int64  // slow hashes: every rejection costs the same
	}{
		{"slow", "secret", false, "", 1},
		{"slow", "secret", false, "", 0}, // cached
		{"slow", "secret ", false, "the password is wrong", 1},
		{"slow", "secret", true, "", 0},
		{"imported", "p", false, "", 0},
		{"imported", "P", false, "the password is wrong", 1},
		{"token", "", false, "the password is empty", 1},
		{"token", "x", false, "the user cannot log in with a password", 1},
		{"nobody", "x", false, "there is no such user", 1},
		{"guest", "guest", true, "", 0},
		{"guest", "guest", false, "the user can only connect via localhost", 0},
		{"guest", "x", false, "the password is wrong", 1},
	} {
		var err error
		n := slowRuns(b, func() { err = b.Authenticate(c.user, c.password, c.loopback) })
		if n != c.slow {
			t.Errorf("%s/%s: %d slow hashes, want %d", c.user, c.password, n, c.slow)
		}
		if c.why == "" {
			if err != nil {
				t.Errorf("%s/%s: %v", c.user, c.password, err)
			}
			continue
		}
		var e *failure.Error
		if !errors.As(err, &e) || !errors.Is(err, failure.ErrAccessRefused) || e.Detail != c.why {
			t.Errorf("%s/%s: %v, want %s", c.user, c.password, err, c.why)
		}
		if c.password != c.user && len(c.password) > 1 && strings.Contains(err.Error(), "'"+c.password+"'") {
			t.Errorf("the error has the password: %v", err)
		}
	}
	must(t, b.SetLoopbackOnly("guest", false))
	must(t, b.Authenticate("guest", "guest", false))
}

// TestNewPasswordEndsTheOld changes a password that is cached as correct.
func TestNewPasswordEndsTheOld(t *testing.T) {
	b := openNode(t, vfs.NewMem())
	defer mustClose(t, b)
	must(t, put1(b.PutUser(catalog.UserSpec{Name: "u", Password: "old"})))
	must(t, b.Authenticate("u", "old", false))
	must(t, b.SetUserTags("u", []string{"x"}))
	if n := slowRuns(b, func() { must(t, b.Authenticate("u", "old", false)) }); n != 0 {
		t.Errorf("new tags made it forget the password: %d", n)
	}
	must(t, b.SetPassword("u", "new"))
	if b.Authenticate("u", "old", false) == nil {
		t.Error("the old password is still good")
	}
	must(t, b.Authenticate("u", "new", false))
	must(t, put1(b.PutUser(catalog.UserSpec{Name: "u", Tags: []string{"x"}}))) // without a password
	if b.Authenticate("u", "new", false) == nil {
		t.Error("a password that was taken away is still good")
	}
	if err := b.SetPassword("u", ""); !errors.Is(err, failure.ErrInvalidPassword) {
		t.Errorf("empty password: %v", err)
	}
	if u, _ := b.User("u"); u.Hash != "" || u.Tags[0] != "x" {
		t.Errorf("%+v", u)
	}
}

// TestLoginStorm checks that many concurrent logins do not cost a slow hash each.
func TestLoginStorm(t *testing.T) {
	b := openNode(t, vfs.NewMem())
	defer mustClose(t, b)
	must(t, put1(b.PutUser(catalog.UserSpec{Name: "u", Password: "p"})))
	must(t, b.Authenticate("u", "p", false))
	n := slowRuns(b, func() {
		var wg sync.WaitGroup
		for range 200 {
			wg.Go(func() {
				if err := b.Authenticate("u", "p", false); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	})
	if n != 0 {
		t.Errorf("%d slow hashes", n)
	}
}

func TestPutUserRefuses(t *testing.T) {
	b := openNode(t, vfs.NewMem())
	defer mustClose(t, b)
	for _, c := range []struct {
		spec catalog.UserSpec
		want error
	}{
		{catalog.UserSpec{Name: "", Hash: hashOfP}, failure.ErrInvalidName},
		{catalog.UserSpec{Name: strings.Repeat("x", 256), Hash: hashOfP}, failure.ErrInvalidName},
		{catalog.UserSpec{Name: "\xff", Hash: hashOfP}, failure.ErrInvalidName},
		{catalog.UserSpec{Name: "u", Hash: "hunter2"}, failure.ErrInvalidPassword},
		{catalog.UserSpec{Name: "u", Hash: hashOfP, Algorithm: "rot13"}, failure.ErrInvalidPassword},
		{catalog.UserSpec{Name: "u", Hash: "$argon2id$v=19$m=99999999,t=2,p=1$MDEyMzQ1Njc$MDEyMzQ1Njc", Algorithm: access.Argon2id}, failure.ErrInvalidPassword},
	} {
		_, err := b.PutUser(c.spec)
		if !errors.Is(err, c.want) {
			t.Errorf("%+v: %v, want %v", c.spec, err, c.want)
		}
		if c.spec.Hash != "" && strings.Contains(err.Error(), c.spec.Hash) {
			t.Errorf("the error has the hash: %v", err)
		}
	}
	if len(b.Users()) != 1 {
		t.Errorf("%+v", b.Users())
	}
	if err := b.SetPassword("nobody", "x"); !errors.Is(err, failure.ErrUserNotFound) {
		t.Errorf("%v", err)
	}
}
