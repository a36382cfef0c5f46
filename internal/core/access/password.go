package access

import (
	"crypto/md5" // #nosec G501 -- verifies RabbitMQ's hashes; none is created
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/argon2"
)

// The algorithms of stored passwords. The names are those of RabbitMQ's definitions, and are on
// disk.
const (
	Argon2id     = "argon2id"                       // the hash is a PHC string: $argon2id$v=19$m=…,t=…,p=…$salt$hash
	RabbitSHA256 = "rabbit_password_hashing_sha256" // base64 of salt (4 bytes) and SHA-256(salt password)
	RabbitSHA512 = "rabbit_password_hashing_sha512" // as before, with SHA-512
	RabbitMD5    = "rabbit_password_hashing_md5"    // as before, with MD5
)

// ErrHash means that a password hash has a form that Verify cannot check.
var ErrHash = errors.New("not a valid password hash")

// The cost of new passwords: OWASP's first recommendation for little memory.
const (
	argonMemory  = 19456 // KiB
	argonTime    = 2
	argonThreads = 1
	argonKey     = 32 // bytes
)

// The highest cost that a hash from elsewhere may have, and the limits on the lengths of its parts.
const (
	maxArgonMemory  = 256 << 10 // KiB
	maxArgonTime    = 16
	maxArgonThreads = 16
	minArgonSalt    = 8
	minArgonKey     = 16
	maxArgonPart    = 64
)

// rabbitSalt is the length in bytes of the salt in front of RabbitMQ's hash.
const rabbitSalt = 4

// Secret is a stored password. With an empty hash every login fails.
type Secret struct {
	Algorithm string `json:"algorithm,omitempty"`
	Hash      string `json:"hash,omitempty"`
	// Scram is for clients that prove a password without sending it; it is empty if only the hash
	// was ever known.
	Scram Scram `json:"scram,omitempty"`
}

// NewSecret hashes a password with argon2id, which takes about 20 MB of memory and 25 ms. salt is
// random, 16 bytes.
func NewSecret(password string, salt []byte) Secret {
	key := argon2.IDKey([]byte(password), salt, argonTime, argonMemory, argonThreads, argonKey)
	return Secret{Algorithm: Argon2id, Hash: fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, argonMemory, argonTime, argonThreads,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(key))}
}

// Check checks that Verify knows the form of the secret. It returns ErrHash if not.
func (s Secret) Check() error {
	if s.Hash == "" {
		return nil
	}
	if s.Slow() {
		_, err := parseArgon(s.Hash)
		return err
	}
	sum := rabbitHash(s.Algorithm)
	if sum == nil {
		return fmt.Errorf("%w: unknown algorithm '%s'", ErrHash, s.Algorithm)
	}
	raw, err := base64.StdEncoding.DecodeString(s.Hash)
	if err != nil || len(raw) != rabbitSalt+len(sum(nil)) {
		return fmt.Errorf("%w: it should be base64 of %d bytes of salt and the hash", ErrHash, rabbitSalt)
	}
	return nil
}

// Slow reports whether Verify is expensive, as it is for argon2id.
func (s Secret) Slow() bool { return s.Algorithm == Argon2id }

// Verify reports whether the password is correct. Empty passwords are rejected.
func (s Secret) Verify(password string) bool {
	if s.Hash == "" || password == "" {
		return false
	}
	if s.Slow() {
		a, err := parseArgon(s.Hash)
		return err == nil && subtle.ConstantTimeCompare(a.run(password), a.key) == 1
	}
	sum := rabbitHash(s.Algorithm)
	raw, err := base64.StdEncoding.DecodeString(s.Hash)
	if sum == nil || err != nil || len(raw) < rabbitSalt {
		return false
	}
	return subtle.ConstantTimeCompare(sum(append(raw[:rabbitSalt:rabbitSalt], password...)), raw[rabbitSalt:]) == 1
}

// rabbitHash returns the hash function of one of RabbitMQ's algorithms, or nil for others.
func rabbitHash(algorithm string) func([]byte) []byte {
	switch algorithm {
	case RabbitSHA256:
		return func(b []byte) []byte { h := sha256.Sum256(b); return h[:] }
	case RabbitSHA512:
		return func(b []byte) []byte { h := sha512.Sum512(b); return h[:] }
	case RabbitMD5:
		return func(b []byte) []byte { h := md5.Sum(b); return h[:] } // #nosec G401 -- verifies RabbitMQ's hashes; none is created
	}
	return nil
}

// argon is an argon2id hash with its parameters.
type argon struct {
	memory, time uint32
	threads      uint8
	salt, key    []byte
}

func (a *argon) run(password string) []byte {
	return argon2.IDKey([]byte(password), a.salt, a.time, a.memory, a.threads, uint32(len(a.key)))
}

func parseArgon(hash string) (*argon, error) {
	a := &argon{}
	var version int
	parts := strings.Split(hash, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" {
		return nil, fmt.Errorf("%w: it should be $argon2id$v=19$m=…,t=…,p=…$salt$hash", ErrHash)
	}
	if _, err := fmt.Sscanf(parts[2], "v=%d", &version); err != nil || version != argon2.Version {
		return nil, fmt.Errorf("%w: only argon2 version %d is supported", ErrHash, argon2.Version)
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &a.memory, &a.time, &a.threads); err != nil {
		return nil, fmt.Errorf("%w: its parameters should be m=…,t=…,p=…", ErrHash)
	}
	if a.memory > maxArgonMemory || a.time < 1 || a.time > maxArgonTime || a.threads < 1 || a.threads > maxArgonThreads {
		return nil, fmt.Errorf("%w: at most %d KiB of memory, %d rounds and %d threads", ErrHash, maxArgonMemory, maxArgonTime, maxArgonThreads)
	}
	var err error
	if a.salt, err = base64.RawStdEncoding.DecodeString(parts[4]); err != nil || len(a.salt) < minArgonSalt || len(a.salt) > maxArgonPart {
		return nil, fmt.Errorf("%w: its salt should be %d to %d bytes in base64", ErrHash, minArgonSalt, maxArgonPart)
	}
	if a.key, err = base64.RawStdEncoding.DecodeString(parts[5]); err != nil || len(a.key) < minArgonKey || len(a.key) > maxArgonPart {
		return nil, fmt.Errorf("%w: it should end in %d to %d bytes in base64", ErrHash, minArgonKey, maxArgonPart)
	}
	return a, nil
}
