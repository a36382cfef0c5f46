package access

import (
	"errors"
	"strings"
	"testing"
)

// TestScramIsPostgresOwn compares with the verifiers that PostgreSQL 15 computed for these salts,
// and checks that clients can prove their passwords with them.
func TestScramIsPostgresOwn(t *testing.T) {
	for _, known := range postgresVerifiers {
		keys, err := Scram(known.verifier).Keys()
		if err != nil {
			t.Fatal(err)
		}
		if keys.Iterations != ScramIterations {
			t.Errorf("%d iterations", keys.Iterations)
		}
		if got := NewScram(known.password, keys.Salt); string(got) != known.verifier {
			t.Errorf("password %q: %s, want %s", known.password, got, known.verifier)
		}
		if got := keys.Scram(); string(got) != known.verifier {
			t.Errorf("put together again: %s", got)
		}
	}
}

func TestScramThatIsNone(t *testing.T) {
	good := string(NewScram("p", []byte("0123456789abcdef")))
	for name, text := range map[string]string{
		"empty":         "",
		"md5":           "md5c6e5b3b4f1b6a8c0f4a0f3f4e4b0c0d0",
		"cut":           good[:len(good)-8],
		"no key":        good[:strings.LastIndex(good, ":")],
		"no iterations": strings.Replace(good, "4096", "0", 1),
		"too many":      strings.Replace(good, "4096", "99999999999", 1),
		"salt":          strings.Replace(good, "4096:", "4096:!", 1),
	} {
		if _, err := Scram(text).Keys(); !errors.Is(err, ErrHash) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// postgresVerifiers are rolpassword values of PostgreSQL 15: a plain password, one with characters
// that are mapped, and one that cannot be normalized.
var postgresVerifiers = []struct{ password, verifier string }{
	{"secret", "SCRAM-SHA-256$4096:Z2FedI4tkVYkTH0SCzCxuA==$3dRwJpJOgCEIJ65KkTe3RK4wXfLqc/kFc/v6werpLm4=:3IVqb5b+w3zPweFW7XTzYQRiEyqEUJeNz/VCQb8HfrY="},
	{"пароль ™", "SCRAM-SHA-256$4096:f/FzCdxXhQbRvBSRTHssKw==$A5RxZSTMg3nw3mdtzmypY+JcJZBCcODChPrEHv+GuLc=:jMdL1AC8xXCFODZePbYKeDdiPiQ6FjmGYcFaM4cmCHA="},
	{"x\u00a0y", "SCRAM-SHA-256$4096:oywYtTdIgznX0W1kwZ79lg==$/u3/YeKyy0pEjpKFwxFkQ76B1wNTxVvz0FhfPddjZVQ=:sus8EeLV3/UjfVL29Yd1BAEL3yUZhyRcLuLRLJThEqA="},
	{"\u06271", "SCRAM-SHA-256$4096:bB8AGVonpGIO/bczz3qigw==$9EOvF1/ssJCuGAuERXhaM9qmt5fZ2BA4eptxjBZrq5E=:A1mV+V12rzV/rc5xXzGBb+4F5UvSe5/LHvYixfxnIlY="},
}
