package authn

import (
	"crypto/hmac"
	"crypto/sha256"

	"fiveways.dev/fiveways/internal/core/access"
)

// Credentials is how a user can prove who it is where passwords are not sent in clear text.
type Credentials struct {
	// Trusted: nothing is to be proved. This is the default user of a new data folder, coming from
	// this machine: it can come from nowhere else, and everybody knows its password.
	Trusted bool
	// HashOnly: there is only a hash to compare a password with. A client that may not be asked for
	// the password is offered Scram.
	HashOnly bool
	// Scram is what a proof by SCRAM-SHA-256 is checked against. For users that are not there, may
	// not come from where they do, or have a hash only, it is one that no proof fits, and that
	// cannot be told from others.
	Scram access.Scram
}

// Credentials tells how a login by this name is to be checked; loopback tells that it comes from
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

// nobodys is the verifier of a user that there is not: the same at each attempt, as others' are,
// and of no password.
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
