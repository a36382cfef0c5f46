package admission

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/authority"
	"fiveways.dev/fiveways/internal/replica/level"
)

// samples has an answer of each kind.
var samples = []answer{
	{
		outcome: admitted, cluster: cluster, node: 3, cert: []byte("certificate"),
		authority: authority.Pair{Cert: []byte("authority"), Key: []byte("key")},
		addresses: map[uint64]string{1: "n1:7000", 3: "n3:7000"},
	},
	{outcome: elsewhere, text: "n2:7000"},
	{outcome: refused, text: "reason"},
	{outcome: wrongToken},
	{outcome: expiredToken},
}

// TestMessages checks that messages survive encoding and decoding, and that truncated messages,
// messages with trailing bytes, and other versions are rejected.
func TestMessages(t *testing.T) {
	q := request{token: "token", address: "n3:7000", csr: []byte("csr"), levels: level.Range{Oldest: 1, Newest: 2}, clock: 3}
	if got, err := decodeRequest(q.append(nil)); err != nil || !reflect.DeepEqual(got, q) {
		t.Errorf("%+v, %v", got, err)
	}
	wrong(t, q.append(nil), func(b []byte) error {
		_, err := decodeRequest(b)
		return err
	})
	if got, want := string(q.append(nil)), "\x01\x05token\x07n3:7000\x03csr\x01\x02\x03"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	want := "\x01\x00\xc1\x01\x03\x0bcertificate\x09authority\x03key\x02\x01\x07n1:7000\x03\x07n3:7000"
	if got := string(samples[0].append(nil)); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for _, a := range samples {
		if got, err := decodeAnswer(a.append(nil)); err != nil || !reflect.DeepEqual(got, a) {
			t.Errorf("%+v, %v, want %+v", got, err, a)
		}
		wrong(t, a.append(nil), func(b []byte) error {
			_, err := decodeAnswer(b)
			return err
		})
	}
	if _, err := decodeAnswer([]byte{version, byte(expiredToken) + 1}); !errors.Is(err, ErrMalformed) {
		t.Errorf("an unknown outcome: %v", err)
	}
}

func wrong(t *testing.T, b []byte, decode func([]byte) error) {
	t.Helper()
	for n := range b {
		if err := decode(b[:n]); !errors.Is(err, ErrMalformed) {
			t.Errorf("%d of %d bytes: %v", n, len(b), err)
		}
	}
	if err := decode(append(bytes.Clone(b), 0)); !errors.Is(err, ErrMalformed) {
		t.Errorf("a byte more: %v", err)
	}
	b[0]++
	if err := decode(b); !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), "version 2 of the protocol of joining, this node has 1") {
		t.Errorf("a newer version: %v", err)
	}
}

// TestFrames checks that a message survives its frame, and that a frame that is too long is
// rejected at once.
func TestFrames(t *testing.T) {
	for _, n := range []int{0, 1, maxFrame} {
		var b bytes.Buffer
		if err := writeFrame(&b, bytes.Repeat([]byte{7}, n)); err != nil {
			t.Fatal(err)
		}
		cut := bytes.NewReader(b.Bytes()[:b.Len()-1])
		if got, err := readFrame(&b); err != nil || len(got) != n || bytes.Count(got, []byte{7}) != n {
			t.Errorf("%d bytes: %d, %v", n, len(got), err)
		}
		if _, err := readFrame(cut); err == nil {
			t.Errorf("%d bytes, cut off: no error", n)
		}
	}
	if _, err := readFrame(bytes.NewReader([]byte{0, 1, 0, 1})); !errors.Is(err, ErrMalformed) {
		t.Errorf("a byte too much: %v", err)
	}
}

func TestAddresses(t *testing.T) {
	for address, ok := range map[string]bool{
		"n1.example:7000": true, "10.0.0.1:1": true, "[2001:db8::1]:65535": true, "localhost:7000": true,
		"": false, "n1": false, ":7000": false, "n1:": false, "n1:0": false, "n1:65536": false, "n1:http": false, "n1:-1": false,
		"0.0.0.0:7000": false, "[::]:7000": false, "2001:db8::1:7000": false, strings.Repeat("n", 256) + ":7000": false,
	} {
		if err := checkAddress(address); (err == nil) != ok {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func FuzzRequest(f *testing.F) {
	q := request{token: "token", address: "n3:7000", csr: []byte("csr"), levels: level.Range{Oldest: 1, Newest: 2}}
	f.Add(q.append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		q, err := decodeRequest(b)
		if err != nil {
			return
		}
		publicKey(q.csr) //nolint:errcheck // it must not panic
		if again, err := decodeRequest(q.append(nil)); err != nil || !reflect.DeepEqual(again, q) {
			t.Fatalf("%+v, %v, want %+v", again, err, q)
		}
	})
}

func FuzzAnswer(f *testing.F) {
	for _, a := range samples {
		f.Add(a.append(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := decodeAnswer(b)
		if err != nil {
			return
		}
		if again, err := decodeAnswer(a.append(nil)); err != nil || !reflect.DeepEqual(again, a) {
			t.Fatalf("%+v, %v, want %+v", again, err, a)
		}
	})
}
