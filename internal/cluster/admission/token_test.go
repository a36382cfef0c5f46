package admission

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2031, 5, 6, 12, 0, 0, 0, time.UTC)

// TestToken checks that a token keeps its contents, and that it is valid until it expires.
func TestToken(t *testing.T) {
	id := founded(t, cluster, noon)
	token := id.Token("n1.example:7000", noon)
	before := noon.Add(-time.Nanosecond)
	got, err := ParseToken("  "+token+"\n", before)
	if want := (Token{cluster, got.ID, got.Until, hash(id.root), "n1.example:7000"}); err != nil || got != want || !got.Until.Equal(noon) {
		t.Errorf("%+v, %v", got, err)
	}
	if checked, err := id.check(token, before); err != nil || checked != got {
		t.Errorf("the cluster reads %+v, %v", checked, err)
	}
	if _, err := ParseToken(token, noon); !errors.Is(err, ErrExpired) {
		t.Errorf("the newcomer, at its end: %v", err)
	}
	if _, err := id.check(token, noon); !errors.Is(err, ErrExpired) {
		t.Errorf("the cluster, at its end: %v", err)
	}
	if again := id.Token("n1.example:7000", noon); again == token {
		t.Error("two tokens are the same")
	}
}

// TestWrongTokens is a table of invalid tokens with the errors that newcomers get.
func TestWrongTokens(t *testing.T) {
	id := founded(t, cluster, noon)
	before := noon.Add(-time.Hour)
	token := id.Token("n1.example:7000", noon)
	for _, tc := range []struct{ name, token, want string }{
		{"nothing", "", `does not begin with "fwjoin1."`},
		{"something else", "correct horse", `does not begin with "fwjoin1."`},
		{"a later version", "fwjoin2." + token[len(tokenPrefix):], `does not begin with "fwjoin1."`},
		{"the prefix", tokenPrefix, "it is cut off, or altered"},
		{"half of it", token[:len(token)/2], "it is cut off, or altered"},
		{"all but its end", token[:len(token)-1], "it is cut off, or altered"},
		{"more than it", token + "AAAA", "it is cut off, or altered"},
		{"no base64", token[:20] + "?" + token[21:], "it is cut off, or altered"},
		{"no address", id.Token("", noon), `the address "" is not a host and a port`},
		{"expired", id.Token("n1.example:7000", before), "the token has expired: it was valid until 2031-05-06 11:00:00 UTC"},
	} {
		_, err := ParseToken(tc.token, before)
		if err == nil || !strings.Contains(err.Error(), tc.want) || strings.ContainsAny(err.Error(), "\n\r") {
			t.Errorf("%s: %v", tc.name, err)
		}
		if !errors.Is(err, ErrToken) && !errors.Is(err, ErrExpired) {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

// TestAlteredTokens alters a token at every position, truncates it, and checks it with another
// cluster. All variants are rejected, and an expired token that was altered gives the same error as
// any other.
func TestAlteredTokens(t *testing.T) {
	id, other := founded(t, cluster, noon), founded(t, cluster, noon)
	before := noon.Add(-time.Hour)
	for _, token := range []string{id.Token("n1.example:7000", noon), id.Token("n1.example:7000", before)} {
		for i := range token {
			if _, err := id.check(token[:i], before); !errors.Is(err, ErrToken) {
				t.Errorf("%d bytes of it: %v", i, err)
			}
			c := byte('A')
			if token[i] == c {
				c = 'B'
			}
			if _, err := id.check(token[:i]+string(c)+token[i+1:], before); !errors.Is(err, ErrToken) {
				t.Errorf("byte %d is another: %v", i, err)
			}
		}
		if _, err := other.check(token, before); !errors.Is(err, ErrToken) {
			t.Errorf("another cluster: %v", err)
		}
	}
}

func FuzzToken(f *testing.F) {
	id := founded(f, cluster, noon)
	genuine := id.Token("n1.example:7000", noon)
	f.Add(genuine)
	f.Add(tokenPrefix + base64.RawURLEncoding.EncodeToString(make([]byte, 100)))
	f.Fuzz(func(t *testing.T, token string) {
		tok, err := ParseToken(token, noon.Add(-time.Hour))
		if err == nil && checkAddress(tok.Address) != nil {
			t.Fatalf("%+v", tok)
		}
		said, mac, _ := split(token)
		wantSaid, wantMAC, _ := split(genuine)
		same := string(said) == string(wantSaid) && string(mac) == string(wantMAC)
		if _, err := id.check(token, noon.Add(-time.Hour)); err == nil && !same {
			t.Fatalf("%q is valid", token)
		}
	})
}
