package pgwire

import (
	"bytes"
	"io"
	"testing"
	"time"
)

// BenchmarkBindExecute measures the protocol overhead of a prepared statement with one parameter
// and one row. Session and sockets are excluded: many statements arrive in one read.
func BenchmarkBindExecute(b *testing.B) {
	const batch = 256
	n := startNode(b, Options{})
	c := n.login()
	c.write(encoded(b, parse("s", "echo"), sync_))
	c.until("Z")
	one := encoded(b, bind("", "s", "hello"), execute("", 0), sync_)
	c.write(one)
	answer := len(encodedAnswer)
	if _, err := io.ReadFull(c.nc, make([]byte, answer)); err != nil {
		b.Fatal(err)
	}
	many := bytes.Repeat(one, batch)
	buf := make([]byte, batch*answer)
	c.nc.SetDeadline(time.Time{}) //nolint:errcheck // a socket of ours
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if i%batch == 0 {
			c.write(many)
			if _, err := io.ReadFull(c.nc, buf); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// encodedAnswer holds BindComplete, DataRow, CommandComplete and ReadyForQuery.
const encodedAnswer = "2\x00\x00\x00\x04D\x00\x00\x00\x0f\x00\x01\x00\x00\x00\x05helloC\x00\x00\x00\x0dSELECT 1\x00Z\x00\x00\x00\x05I"
