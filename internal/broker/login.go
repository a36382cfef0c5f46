package broker

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"runtime"
	"sync/atomic"

	"fiveways/internal/core/access"
)

const (
	markBytes = sha256.Size
	saltBytes = 16
)

// logins checks passwords. A slow hash is computed once for a user: afterwards a keyed mark of hash and password says
// that this password was right. The key lives as long as the process, and the mark as long as the hash.
type logins struct {
	key   [markBytes]byte
	slots chan struct{} // bounds how many slow hashes are computed at a time
	slow  atomic.Int64  // how many were computed
}

func newLogins() *logins {
	l := &logins{slots: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))}
	rand.Read(l.key[:]) //nolint:errcheck // never fails
	return l
}

// slowly runs fn when its turn has come.
func (l *logins) slowly(fn func()) {
	l.slots <- struct{}{}
	l.slow.Add(1)
	defer func() { <-l.slots }()
	fn()
}

func (l *logins) mark(hash, password string) (m [markBytes]byte) {
	h := hmac.New(sha256.New, l.key[:])
	h.Write([]byte(hash))
	h.Write([]byte{0})
	h.Write([]byte(password))
	h.Sum(m[:0])
	return m
}

// verify tells whether the password is right; k is nil for a user that is not there. Every no takes as long as the
// slow hash, so that nobody learns from it which users there are.
func (l *logins) verify(k *login, password string) bool {
	if k == nil || k.secret.Hash == "" || password == "" {
		l.waste(password)
		return false
	}
	mark := l.mark(k.secret.Hash, password)
	if known := k.verified.Load(); known != nil && hmac.Equal(known[:], mark[:]) {
		return true
	}
	var ok bool
	if k.secret.Slow() {
		l.slowly(func() { ok = k.secret.Verify(password) })
	} else if ok = k.secret.Verify(password); !ok {
		l.waste(password)
	}
	if ok {
		k.verified.Store(&mark)
	}
	return ok
}

// waste takes as long as checking a password.
func (l *logins) waste(password string) {
	l.slowly(func() { access.NewSecret(password, make([]byte, saltBytes)) })
}

// secret is the password of a user as it is to be kept. Errors: ErrInvalidPassword.
func (l *logins) secret(spec *UserSpec) (s access.Secret, err error) {
	if spec.Password != "" {
		salt := make([]byte, saltBytes)
		rand.Read(salt) //nolint:errcheck // never fails
		l.slowly(func() { s = access.NewSecret(spec.Password, salt) })
		rand.Read(salt) //nolint:errcheck // never fails
		s.Scram = access.NewScram(spec.Password, salt)
		return s, nil
	}
	if spec.Hash == "" {
		return s, nil
	}
	s = access.Secret{Algorithm: spec.Algorithm, Hash: spec.Hash}
	if s.Algorithm == "" {
		s.Algorithm = access.RabbitSHA256
	}
	if err := s.Check(); err != nil {
		return s, &Error{Err: ErrInvalidPassword, Kind: "user", Name: spec.Name, Detail: err.Error()}
	}
	return s, nil
}

// Authenticate checks a login; loopback tells that it comes from this machine. All failures take the same time, and
// their detail is for the log only. Errors: ErrAccessRefused.
func (b *Broker) Authenticate(name, password string, loopback bool) error {
	var k *login
	only := false
	b.rules.read(name, func(u *user) {
		if u != nil {
			k, only = u.login, u.loopbackOnly
		}
	})
	why := ""
	switch ok := b.logins.verify(k, password); {
	case k == nil:
		why = "there is no such user"
	case password == "":
		why = "the password is empty"
	case k.secret.Hash == "":
		why = "the user cannot log in with a password"
	case !ok:
		why = "the password is wrong"
	case only && !loopback:
		why = "the user can only connect via localhost"
	default:
		return nil
	}
	return &Error{Err: ErrAccessRefused, Kind: "user", Name: name, User: name, Detail: why}
}

// Admit tells whether a user may log in who was recognised elsewhere, such as by a certificate; loopback tells that the login
// comes from this machine. Errors: ErrAccessRefused, with a detail for the log only.
func (b *Broker) Admit(name string, loopback bool) error {
	why := "there is no such user"
	b.rules.read(name, func(u *user) {
		switch {
		case u == nil:
		case u.loopbackOnly && !loopback:
			why = "the user can only connect via localhost"
		default:
			why = ""
		}
	})
	if why == "" {
		return nil
	}
	return &Error{Err: ErrAccessRefused, Kind: "user", Name: name, User: name, Detail: why}
}
