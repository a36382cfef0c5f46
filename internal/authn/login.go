package authn

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"runtime"
	"sync/atomic"

	"fiveways.dev/fiveways/internal/core/access"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/failure"
)

const (
	markBytes = sha256.Size
	saltBytes = 16
)

// Checker checks logins. A slow hash is computed once per user: afterwards a keyed hash (the mark)
// of the password hash and the password shows that the password was correct. The key lives as long
// as the process, and the mark as long as the password hash.
type Checker struct {
	users *catalog.State
	key   [markBytes]byte
	slots chan struct{} // limits concurrent slow hashes
	slow  atomic.Int64  // number of slow hashes computed
}

// NewChecker returns a checker for the users of a broker.
func NewChecker(users *catalog.State) *Checker {
	c := &Checker{users: users, slots: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))}
	rand.Read(c.key[:]) //nolint:errcheck // never fails
	return c
}

// SlowHashes returns how many slow hashes were computed.
func (c *Checker) SlowHashes() int64 { return c.slow.Load() }

// slowly runs fn when a slot is free.
func (c *Checker) slowly(fn func()) {
	c.slots <- struct{}{}
	c.slow.Add(1)
	defer func() { <-c.slots }()
	fn()
}

func (c *Checker) mark(hash, password string) (m [markBytes]byte) {
	h := hmac.New(sha256.New, c.key[:])
	h.Write([]byte(hash))
	h.Write([]byte{0})
	h.Write([]byte(password))
	h.Sum(m[:0])
	return m
}

// verify reports whether the password is correct. l is nil for a missing user. Every rejection
// takes as long as the slow hash, so that the time does not reveal which users exist.
func (c *Checker) verify(l *catalog.Login, password string) bool {
	if l == nil || l.Hash == "" || password == "" {
		c.waste(password)
		return false
	}
	mark := c.mark(l.Hash, password)
	if known := l.Verified.Load(); known != nil && hmac.Equal(known[:], mark[:]) {
		return true
	}
	var ok bool
	if l.Slow() {
		c.slowly(func() { ok = l.Verify(password) })
	} else if ok = l.Verify(password); !ok {
		c.waste(password)
	}
	if ok {
		l.Verified.Store(&mark)
	}
	return ok
}

// waste takes as long as checking a password.
func (c *Checker) waste(password string) {
	c.slowly(func() { access.NewSecret(password, make([]byte, saltBytes)) })
}

// Secret returns the password of a user in the form that is stored. Errors: ErrInvalidPassword.
func (c *Checker) Secret(spec *catalog.UserSpec) (s access.Secret, err error) {
	if spec.Password != "" {
		salt := make([]byte, saltBytes)
		rand.Read(salt) //nolint:errcheck // never fails
		c.slowly(func() { s = access.NewSecret(spec.Password, salt) })
		rand.Read(salt) //nolint:errcheck // never fails
		s.Scram = access.NewScram(spec.Password, salt)
		return s, nil
	}
	if spec.Hash == "" {
		return s, nil
	}
	s = access.Secret{Algorithm: spec.Algorithm, Hash: spec.Hash}
	s.Algorithm = cmp.Or(s.Algorithm, access.RabbitSHA256)
	if err := s.Check(); err != nil {
		return s, &failure.Error{Err: failure.ErrInvalidPassword, Kind: "user", Name: spec.Name, Detail: err.Error()}
	}
	return s, nil
}

// Authenticate checks a login. loopback means that it comes from this machine. All failures take
// the same time, and their detail is only for the log. Errors: ErrAccessRefused.
func (c *Checker) Authenticate(name, password string, loopback bool) error {
	l, only := c.users.Login(name)
	why := ""
	switch ok := c.verify(l, password); {
	case l == nil:
		why = "there is no such user"
	case password == "":
		why = "the password is empty"
	case l.Hash == "":
		why = "the user cannot log in with a password"
	case !ok:
		why = "the password is wrong"
	case only && !loopback:
		why = "the user can only connect via localhost"
	default:
		return nil
	}
	return refused(name, why)
}

// Admit checks that a user may log in who was authenticated by other means, such as a certificate.
// loopback means that the login comes from this machine. Errors: ErrAccessRefused, with a detail
// only for the log.
func (c *Checker) Admit(name string, loopback bool) error {
	switch l, only := c.users.Login(name); {
	case l == nil:
		return refused(name, "there is no such user")
	case only && !loopback:
		return refused(name, "the user can only connect via localhost")
	}
	return nil
}

func refused(name, why string) error {
	return &failure.Error{Err: failure.ErrAccessRefused, Kind: "user", Name: name, User: name, Detail: why}
}
