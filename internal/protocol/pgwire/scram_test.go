package pgwire

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

// prove computes the client's final message. header is the channel-binding header, and nonce
// modifies the nonce.
func prove(t *testing.T, challenge, password, firstBare, header string, nonce func(string) string) string {
	t.Helper()
	parts := strings.Split(challenge, ",")
	if len(parts) != 3 {
		t.Fatalf("challenge %s", challenge)
	}
	salt, err := base64.StdEncoding.DecodeString(parts[1][2:])
	if err != nil {
		t.Fatal(err)
	}
	rounds, err := strconv.Atoi(parts[2][2:])
	if err != nil {
		t.Fatal(err)
	}
	salted, err := pbkdf2.Key(sha256.New, password, salt, rounds, sha256.Size)
	if err != nil {
		t.Fatal(err)
	}
	mac := func(key []byte, text string) []byte {
		h := hmac.New(sha256.New, key)
		h.Write([]byte(text))
		return h.Sum(nil)
	}
	key := mac(salted, "Client Key")
	stored := sha256.Sum256(key)
	last := "c=" + base64.StdEncoding.EncodeToString([]byte(header)) + ",r=" + nonce(parts[0][2:])
	for i, b := range mac(stored[:], firstBare+","+challenge+","+last) {
		key[i] ^= b
	}
	return last + ",p=" + base64.StdEncoding.EncodeToString(key)
}

// TestProofs: a proof is valid only with the nonce and the channel binding that were negotiated.
func TestProofs(t *testing.T) {
	n := startNode(t, Options{})
	n.user(userSpec)
	same := func(s string) string { return s }
	const refused = `E FATAL 28P01 password authentication failed for user "u" / gone`
	for name, c := range map[string]struct {
		first, header string
		nonce         func(string) string
		password      string
		want          string // "": accepted
	}{
		"right":                           {"n,,", "n,,", same, "secret", ""},
		"client could bind":               {"y,,", "y,,", same, "secret", ""},
		"wrong password":                  {"n,,", "n,,", same, "Secret", refused},
		"empty password":                  {"n,,", "n,,", same, "", refused},
		"says y, then n":                  {"y,,", "n,,", same, "secret", refused},
		"says n, then y":                  {"n,,", "y,,", same, "secret", refused},
		"binding in the proof alone":      {"n,,", "p=tls-server-end-point,,x", same, "secret", refused},
		"nonce of its own":                {"n,,", "n,,", func(string) string { return "abc" }, "secret", refused},
		"nonce cut":                       {"n,,", "n,,", func(s string) string { return s[:len(s)-1] }, "secret", refused},
		"nonce longer":                    {"n,,", "n,,", func(s string) string { return s + "x" }, "secret", refused},
		"in the name of another":          {"n,a=guest,", "n,a=guest,", same, "secret", notSupported},
		"in the name of another, as y":    {"y,a=u,", "y,a=u,", same, "secret", notSupported},
		"channel binding":                 {"p=tls-server-end-point,,", "", same, "secret", noBinding},
		"a flag that there is not":        {"q,,", "", same, "secret", "E FATAL 08P01 malformed SCRAM message"},
		"an extension that must be known": {"n,,m=x,", "", same, "secret", "E FATAL 08P01 malformed SCRAM message"},
	} {
		t.Run(name, func(t *testing.T) {
			n.t = t
			cl := n.dial().start(protocol3, "user", "u", "database", "fiveways")
			cl.expect("R sasl SCRAM-SHA-256")
			const bare = "n=,r=abcdefghijklmnop"
			cl.send(&pgproto3.SASLInitialResponse{AuthMechanism: scramSHA256, Data: []byte(c.first + bare)})
			m, err := cl.f.Receive()
			if err != nil {
				t.Fatal(err)
			}
			if e, ok := m.(*pgproto3.ErrorResponse); ok {
				if got := "E " + fields(e.Severity, e.Code, e.Message, e.Detail, e.Hint, e.Position); c.want == "" || !strings.HasPrefix(got, c.want) {
					t.Errorf("got %s", got)
				}
				return
			}
			challenge := string(m.(*pgproto3.AuthenticationSASLContinue).Data)
			cl.send(&pgproto3.SASLResponse{Data: []byte(prove(t, challenge, c.password, bare, c.header, c.nonce))})
			if c.want != "" {
				cl.expect(c.want)
			} else if got := cl.until("Z"); !strings.HasSuffix(got, welcome) {
				t.Errorf("got %s", got)
			}
		})
	}
}

const (
	notSupported = "E FATAL 0A000 client uses authorization identity, but it is not supported"
	noBinding    = "E FATAL 08P01 malformed SCRAM message | client requires channel binding but server doesn't support it"
)
