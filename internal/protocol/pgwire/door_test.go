package pgwire

import (
	"bytes"
	"io"
	"net"
	"testing"
)

// A client may ask for encryption in any order. Data that it sends without asking is not lost.
func TestAskForTLS(t *testing.T) {
	ssl, gss := "\x00\x00\x00\x08\x04\xd2\x16\x2f", "\x00\x00\x00\x08\x04\xd2\x16\x30"
	start := "\x00\x00\x00\x11\x00\x03\x00\x00user\x00a\x00\x00"
	for _, tc := range []struct {
		name, sent, answered, rest string
		secure                     bool
	}{
		{"TLS", ssl, "S", "", true},
		{"Kerberos, then TLS", gss + ssl, "NS", "", true},
		{"Kerberos, then nothing", gss + start, "N", start, false},
		{"Kerberos twice", gss + gss, "N", gss, false},
		{"nothing", start, "", start, false},
		{"a packet of that length that asks for something else", "\x00\x00\x00\x08\x00\x03\x00\x00", "", "\x00\x00\x00\x08\x00\x03\x00\x00", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ours, theirs := net.Pipe()
			answers := make(chan []byte)
			go func() {
				b, _ := io.ReadAll(theirs) // up to EOF, which closing ours causes
				answers <- b
			}()
			go io.WriteString(theirs, tc.sent) //nolint:errcheck // the received bytes are compared
			rest, secure, err := askForTLS(ours)
			if err != nil || secure != tc.secure {
				t.Errorf("%v, %v", secure, err)
			}
			got := make([]byte, len(tc.rest))
			if _, err := io.ReadFull(rest, got); err != nil || !bytes.Equal(got, []byte(tc.rest)) {
				t.Errorf("the rest is %q, %v", got, err)
			}
			ours.Close()
			if b := <-answers; string(b) != tc.answered {
				t.Errorf("answered %q", b)
			}
		})
	}
}

// FuzzAskForTLS checks that no input byte is lost or read twice.
func FuzzAskForTLS(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x08\x04\xd2\x16\x30\x00\x00\x00\x08\x04\xd2\x16\x2f"))
	f.Add([]byte("\x00\x00\x00\x11\x00\x03\x00\x00user\x00a\x00\x00"))
	f.Fuzz(func(t *testing.T, sent []byte) {
		ours, theirs := net.Pipe()
		defer ours.Close()
		go io.Copy(io.Discard, theirs) //nolint:errcheck // answers do not matter here
		go func() {
			theirs.Write(sent) //nolint:errcheck // the received bytes are compared
			theirs.Close()
		}()
		rest, secure, err := askForTLS(ours)
		if err != nil || secure {
			return
		}
		got, _ := io.ReadAll(rest) // net.Pipe ends with io.EOF
		if !bytes.HasSuffix(sent, got) || len(sent)-len(got) > askBytes {
			t.Errorf("%q of %q", got, sent)
		}
	})
}
