package authn

import (
	"crypto/hmac"
	"crypto/sha256"

	"fiveways.dev/fiveways/internal/core/access"
)

// Credentials describes how a user can authenticate if the password is not sent in clear text.
type Credentials struct {
	// Trusted: no authentication is needed. This is the default user of a new data folder,
	// connecting from this machine: it cannot connect from elsewhere, and its password is well
	// known.
	Trusted bool
	// HashOnly: passwords can only be compared with a hash. A client that cannot be asked for the
	// password is offered Scram.
	HashOnly bool
	// Scram is the verifier for SCRAM-SHA-256. For users that do not exist, may not connect from
	// their address, or have only a hash, it is a verifier that accepts no proof and cannot be
	// distinguished from others.
	Scram access.Scram
}

// Credentials returns how a login with this name must be checked. loopback means that it comes from
// this machine.
func (c *Checker) Credentials(name string, loopback bool) Credentials {
	l, only := c.users.Login(name)
	switch {
	case l == nil || only && !loopback:
	case only && l.IsUntouchedDefault(name):
		return Credentials{Trusted: true}
	case l.Scram != "":
		return Credentials{Scram: l.Scram}
	case l.Hash != "":
		return Credentials{HashOnly: true, Scram: c.nobodys(name)}
	}
	return Credentials{Scram: c.nobodys(name)}
}

// nobodys returns a verifier for a missing user: the same at each attempt, like a real one, but
// matching no password.
func (c *Checker) nobodys(name string) access.Scram {
	derive := func(what string) []byte {
		h := hmac.New(sha256.New, c.key[:])
		h.Write([]byte(what + "\x00" + name))
		return h.Sum(nil)
	}
	return access.ScramKeys{
		Iterations: access.ScramIterations, Salt: derive("salt")[:saltBytes], Stored: derive("stored"), Server: derive("server"),
	}.Scram()
}
