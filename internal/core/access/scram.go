package access

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/xdg-go/stringprep"
)

// ScramIterations is the iteration count of new verifiers; it is PostgreSQL's, which clients
// expect.
const ScramIterations = 4096

// maxScramIterations bounds what a client must compute.
const maxScramIterations = 1 << 24

// Scram is a verifier for SCRAM-SHA-256 (RFC 5802, RFC 7677) in PostgreSQL's form:
// SCRAM-SHA-256$iterations:salt$stored key:server key. The password can only be guessed from it,
// but with it an attacker can impersonate the server.
type Scram string

// ScramKeys are the parts of a Scram.
type ScramKeys struct {
	Iterations     int
	Salt           []byte
	Stored, Server []byte // SHA-256
}

const scramPrefix = "SCRAM-SHA-256$"

// NewScram returns the verifier of a password. salt is random, 16 bytes.
func NewScram(password string, salt []byte) Scram {
	salted, err := pbkdf2.Key(sha256.New, prepared(password), salt, ScramIterations, sha256.Size)
	if err != nil {
		panic("access: PBKDF2 with fixed parameters: " + err.Error()) // fails only for other lengths
	}
	stored := sha256.Sum256(scramKey(salted, "Client Key"))
	return ScramKeys{Iterations: ScramIterations, Salt: salt, Stored: stored[:], Server: scramKey(salted, "Server Key")}.Scram()
}

func scramKey(salted []byte, name string) []byte {
	h := hmac.New(sha256.New, salted)
	h.Write([]byte(name))
	return h.Sum(nil)
}

// prepared returns the password as clients normalize it (SASLprep), or unchanged if that fails, as
// PostgreSQL's clients do.
func prepared(password string) string {
	if p, err := stringprep.SASLprep.Prepare(password); err == nil && p != "" {
		return p
	}
	return password
}

// Scram encodes the parts.
func (k ScramKeys) Scram() Scram {
	b64 := base64.StdEncoding.EncodeToString
	return Scram(fmt.Sprintf("%s%d:%s$%s:%s", scramPrefix, k.Iterations, b64(k.Salt), b64(k.Stored), b64(k.Server)))
}

// Keys decodes a verifier. It returns ErrHash if the verifier is malformed.
func (s Scram) Keys() (ScramKeys, error) {
	rest, ok := strings.CutPrefix(string(s), scramPrefix)
	head, keys, ok2 := strings.Cut(rest, "$")
	count, salt, ok3 := strings.Cut(head, ":")
	stored, server, ok4 := strings.Cut(keys, ":")
	n, err := strconv.Atoi(count)
	k := ScramKeys{Iterations: n}
	good := ok && ok2 && ok3 && ok4 && err == nil && n > 0 && n <= maxScramIterations
	for _, part := range []struct {
		text string
		into *[]byte
		size int
	}{{salt, &k.Salt, 0}, {stored, &k.Stored, sha256.Size}, {server, &k.Server, sha256.Size}} {
		raw, err := base64.StdEncoding.DecodeString(part.text)
		good = good && err == nil && len(raw) > 0 && (part.size == 0 || len(raw) == part.size)
		*part.into = raw
	}
	if !good {
		return ScramKeys{}, fmt.Errorf("%w: a verifier should be SCRAM-SHA-256$iterations:salt$key:key", ErrHash)
	}
	return k, nil
}
