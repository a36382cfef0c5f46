package access

import (
	"errors"
	"strings"
	"testing"
)

// secrets: the first three were created by RabbitMQ 3.10; the fourth is the test vector of
// argon2id's reference implementation.
var secrets = []Secret{
	{Algorithm: RabbitSHA256, Hash: "60HroJn3ODS/ag7/Ek1h6Nr4COd75EMtooQSKyMNSeZ8afbF"},
	{Algorithm: RabbitSHA512, Hash: "aRaqV0kudQaoX6rA4U+4m7BloSaQsH4g0hxgGf+PZh3+ZQVDcxtgVbKoBnsImTz63pOx5twKYlwzps5RinNQtggW51A="},
	{Algorithm: RabbitMD5, Hash: "UxE6o4sC1GUaxzf4JhkhrD20KZQ="},
	NewSecret("s3cret-ä", []byte("0123456789abcdef")),
}

func TestSecretsVerify(t *testing.T) {
	for _, s := range secrets {
		if err := s.Check(); err != nil {
			t.Errorf("%+v: %v", s, err)
		}
		for _, wrong := range []string{"", "s3cret", "s3cret-ä ", "S3cret-ä"} {
			if s.Verify(wrong) {
				t.Errorf("%s takes %q", s.Algorithm, wrong)
			}
		}
		if !s.Verify("s3cret-ä") {
			t.Errorf("%s refuses the password", s.Algorithm)
		}
	}
	if (Secret{}).Verify("") || (Secret{Algorithm: RabbitSHA256}).Verify("x") {
		t.Error("an empty hash lets somebody in")
	}
}

// TestArgonOfOthers checks a hash that another implementation created: `echo -n password | argon2
// somesalt -id -t 2 -m 16 -p 1 -l 24` of the reference implementation's tests.
func TestArgonOfOthers(t *testing.T) {
	s := Secret{Algorithm: Argon2id, Hash: "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"}
	if !s.Verify("password") || s.Verify("passwort") {
		t.Error("the reference's hash is read otherwise")
	}
}

func TestNewSecretIsSlowAndSalted(t *testing.T) {
	s := secrets[3]
	if !strings.HasPrefix(s.Hash, "$argon2id$v=19$m=19456,t=2,p=1$") || !s.Slow() {
		t.Errorf("%+v", s)
	}
	if NewSecret("s3cret-ä", []byte("another salt....")).Hash == s.Hash {
		t.Error("the salt has no effect")
	}
}

func TestHashesThatAreNone(t *testing.T) {
	const salt, key = "MDEyMzQ1Njc4OWFiY2RlZg", "CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
	for _, s := range []Secret{
		{Algorithm: "", Hash: "x"}, {Algorithm: "bcrypt", Hash: "x"}, {Algorithm: RabbitSHA256, Hash: "not base64"}, {Algorithm: RabbitSHA256, Hash: "AAAA"}, {Algorithm: RabbitMD5, Hash: secrets[0].Hash},
		{Algorithm: Argon2id, Hash: secrets[0].Hash},
		{Algorithm: Argon2id, Hash: "$argon2i$v=19$m=64,t=2,p=1$" + salt + "$" + key},
		{Algorithm: Argon2id, Hash: "$argon2id$v=16$m=64,t=2,p=1$" + salt + "$" + key},
		{Algorithm: Argon2id, Hash: "$argon2id$v=19$m=99999999,t=2,p=1$" + salt + "$" + key},
		{Algorithm: Argon2id, Hash: "$argon2id$v=19$m=64,t=0,p=1$" + salt + "$" + key},
		{Algorithm: Argon2id, Hash: "$argon2id$v=19$m=64,t=2,p=0$" + salt + "$" + key},
		{Algorithm: Argon2id, Hash: "$argon2id$v=19$m=64,t=2$" + salt + "$" + key},
		{Algorithm: Argon2id, Hash: "$argon2id$v=19$m=64,t=2,p=1$$" + key},
		{Algorithm: Argon2id, Hash: "$argon2id$v=19$m=64,t=2,p=1$" + salt + "$"},
	} {
		if err := s.Check(); !errors.Is(err, ErrHash) {
			t.Errorf("%+v: %v", s, err)
		}
		if s.Verify("x") {
			t.Errorf("%+v verifies", s)
		}
		if err := s.Check(); err != nil && s.Hash != "x" && strings.Contains(err.Error(), s.Hash) {
			t.Errorf("the error repeats the hash: %v", err)
		}
	}
}
