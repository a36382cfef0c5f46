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

// Checker checks logins. A slow hash is computed once for a user: afterwards a keyed mark of hash
// and password says that this password was right. The key lives as long as the process, and the
// mark as long as the hash.
type Checker struct {
	users *catalog.State
	key   [markBytes]byte
	slots chan struct{} // bounds how many slow hashes are computed at a time
	slow  atomic.Int64  // how many were computed
}

// NewChecker checks the logins of the users of a broker.
func NewChecker(users *catalog.State) *Checker {
	c := &Checker{users: users, slots: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))}
	rand.Read(c.key[:]) //nolint:errcheck // never fails
	return c
}

// SlowHashes is how many hashes that take time on purpose were computed.
func (c *Checker) SlowHashes() int64 { return c.slow.Load() }

// slowly runs fn when its turn has come.
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

// verify reports whether the password is right; l is nil for a user that is not there. Every no
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

// Secret is the password of a user as it is to be kept. Errors: ErrInvalidPassword.
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

// Authenticate checks a login; loopback tells that it comes from this machine. All failures take
// the same time, and their detail is for the log only. Errors: ErrAccessRefused.
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

// Admit reports whether a user may log in who was recognised elsewhere, such as by a certificate;
// loopback tells that the login comes from this machine. Errors: ErrAccessRefused, with a detail
// for the log only.
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
