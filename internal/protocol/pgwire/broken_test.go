package pgwire

import (
	"encoding/binary"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"fiveways.dev/fiveways/test/postgres"
)

// frame returns a message whose length matches its body.
func frame(kind byte, body string) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(body)+4)), body...)
}

// wellFormed holds valid bodies. Below, each is truncated, extended and given wrong counts.
var wellFormed = []struct {
	kind   byte
	body   string
	counts []int // offsets of 16-bit counts and 32-bit lengths
}{
	{kind: 'Q', body: "select 7\x00"},
	{kind: 'P', body: "\x00select $1::int, $2::text\x00\x00\x02\x00\x00\x00\x17\x00\x00\x00\x19", counts: []int{26}},
	{kind: 'B', body: "\x00two\x00\x00\x02\x00\x00\x00\x00\x00\x02\x00\x00\x00\x015\xff\xff\xff\xff\x00\x01\x00\x00", counts: []int{5, 11, 13, 18, 22}},
	{kind: 'D', body: "Stwo\x00"},
	{kind: 'E', body: "\x00\x00\x00\x00\x00"},
	{kind: 'C', body: "Stwo\x00"},
	{kind: 'H'},
	{kind: 'S'},
	{kind: 'd', body: "x"},
	{kind: 'c'},
	{kind: 'f', body: "no\x00"},
}

// brokenBodies returns messages with a valid frame and a malformed body.
func brokenBodies() map[string][]byte {
	all := map[string][]byte{}
	for _, m := range wellFormed {
		for cut := range m.body {
			all[fmt.Sprintf("%c cut at %d", m.kind, cut)] = frame(m.kind, m.body[:cut])
		}
		all[fmt.Sprintf("%c and a byte more", m.kind)] = frame(m.kind, m.body+"x")
		all[fmt.Sprintf("%c and a zero more", m.kind)] = frame(m.kind, m.body+"\x00")
		for _, at := range m.counts {
			for _, count := range []uint16{0, 1, 3, 0x7fff, 0x8000, 0xfffe, 0xffff} {
				b := []byte(m.body)
				binary.BigEndian.PutUint16(b[at:], count)
				all[fmt.Sprintf("%c with %#x at %d", m.kind, count, at)] = frame(m.kind, string(b))
			}
		}
	}
	all["D of neither"] = frame('D', "Xtwo\x00")
	all["C of neither"] = frame('C', "Xtwo\x00")
	all["Q of several texts"] = frame('Q', "select 1\x00select 2\x00")
	return all
}

// TestBrokenBodiesAsPostgres: a malformed message is an error of that message. It ends neither the
// session nor the open transaction block.
func TestBrokenBodiesAsPostgres(t *testing.T) {
	real, err := url.Parse(postgres.Start(t, postgres.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	n := startRealNode(t, Options{})
	for name, b := range brokenBodies() {
		t.Run(name, func(t *testing.T) {
			for _, before := range []string{"select 6", "begin"} {
				send := slices.Concat(frame('Q', before+"\x00"), b)
				theirs := (&node{t: t, addr: real.Host}).talkRaw(real.User.Username(), "postgres", send)
				ours := (&node{t: t, addr: n.addr}).talkRaw("guest", "fiveways", send)
				if ours != theirs {
					t.Errorf("after %s we answer\n%s\nPostgreSQL\n%s", before, ours, theirs)
				}
			}
		})
	}
}

// talkRaw logs in, prepares a statement, and sends raw bytes followed by messages that a live
// session answers. It returns all answers as text, one a line.
func (n *node) talkRaw(user, database string, send []byte) string {
	n.t.Helper()
	c := n.dial().start(protocol3, "user", user, "database", database, "TimeZone", "UTC")
	defer c.nc.Close()
	c.until("Z")
	c.send(parse("two", "select $1::int, $2::text"), sync_)
	c.until("Z")
	c.write(slices.Concat(send, frame('S', ""), frame('Q', "select 'it goes on'\x00"), frame('X', "")))
	return strings.ReplaceAll(c.until("gone"), " / ", "\n")
}
