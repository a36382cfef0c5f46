package pgwire

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

var (
	sync_     = &pgproto3.Sync{}
	terminate = &pgproto3.Terminate{}
)

const divisionFails = "E ERROR 22012 division by zero | a detail | a hint @5"

func TestSimpleQuery(t *testing.T) {
	c := startNode(t, Options{}).login()
	for _, q := range []struct{ text, want string }{
		{"rows 2", `T n:23:0 / D "1" / D "2" / C SELECT 2 / Z I`},
		{"", "I / Z I"},
		{" ; ;", "I / Z I"},
		{"begin; rows 1; notice hello; commit", `C BEGIN / T n:23:0 / D "1" / C SELECT 1 / N NOTICE 00000 hello / C NOTICE / C COMMIT / Z I`},
		{"rows 1; fail; rows 1", `T n:23:0 / D "1" / C SELECT 1 / ` + divisionFails + " / Z I"},
		{"begin", "C BEGIN / Z T"},
		{"fail", divisionFails + " / Z E"},
		{"commit", "C COMMIT / Z I"},
		{"rows 1; syntax", `E ERROR 42601 syntax error at or near "syntax" @1 / Z I`},
		{"late; rows 1", `C LATE / T n:23:0 / D "1" / E ERROR 40001 not committed / Z I`},
		{"set a 1; set b 2; set a 3", "C SET / C SET / C SET / S a=3 / S b=2 / Z I"},
		{"rows \xc3\x28", `E ERROR 22021 invalid byte sequence for encoding "UTF8": 0xc3 0x28 / Z I`},
		{"odd", "E ERROR XX000 something odd / Z I"},
		{"rows 1", `T n:23:0 / D "1" / C SELECT 1 / Z I`},
		{"fatal", "E FATAL 57P01 that is all / gone"},
	} {
		t.Run(q.text, func(t *testing.T) {
			c.n.t = t
			c.query(q.text, q.want)
		})
	}
}

// TestManyRows: a result larger than the buffer is written while it is produced.
func TestManyRows(t *testing.T) {
	c := startNode(t, Options{}).login()
	c.send(&pgproto3.Query{String: "rows 100000"})
	if n := strings.Count(c.until("Z"), "D "); n != 100000 {
		t.Errorf("%d rows", n)
	}
	c.send(&pgproto3.Query{String: "big 3000000"})
	if got := c.until("Z"); len(got) < 3000000 {
		t.Errorf("%d bytes", len(got))
	}
	c.query("rows 1", `T n:23:0 / D "1" / C SELECT 1 / Z I`)
}

func TestExtendedQuery(t *testing.T) {
	type ms = []pgproto3.FrontendMessage
	binary := []int16{1}
	for name, q := range map[string]struct {
		send ms
		want string
	}{
		"all in one": {ms{&pgproto3.Parse{Name: "s", Query: "rows 1"}, &pgproto3.Describe{ObjectType: 'S', Name: "s"},
			&pgproto3.Bind{PreparedStatement: "s"}, &pgproto3.Describe{ObjectType: 'P'}, &pgproto3.Execute{}, &pgproto3.Close{ObjectType: 'S', Name: "s"}, sync_},
			`1 / t [] / T n:23:0 / 2 / T n:23:0 / D "1" / C SELECT 1 / 3 / Z I`},
		"binary results": {ms{&pgproto3.Parse{Query: "rows 1"}, &pgproto3.Bind{ResultFormatCodes: binary}, &pgproto3.Describe{ObjectType: 'P'},
			&pgproto3.Execute{}, sync_}, `1 / 2 / T n:23:1 / D "\x00\x00\x00\x01" / C SELECT 1 / Z I`},
		"row limit": {ms{&pgproto3.Parse{Query: "rows 3"}, &pgproto3.Bind{DestinationPortal: "p"}, &pgproto3.Execute{Portal: "p", MaxRows: 2},
			&pgproto3.Execute{Portal: "p", MaxRows: 2}, sync_}, `1 / 2 / D "1" / D "2" / s / D "3" / C SELECT 3 / Z I`},
		"negative limit": {ms{&pgproto3.Parse{Query: "rows 1"}, &pgproto3.Bind{}, &pgproto3.Execute{MaxRows: 1 << 31}, sync_},
			`1 / 2 / D "1" / C SELECT 1 / Z I`},
		"parameters": {ms{&pgproto3.Parse{Query: "echo"}, &pgproto3.Describe{ObjectType: 'S'}, &pgproto3.Bind{Parameters: [][]byte{[]byte("x")}},
			&pgproto3.Execute{}, &pgproto3.Bind{Parameters: [][]byte{nil}}, &pgproto3.Execute{},
			&pgproto3.Bind{Parameters: [][]byte{[]byte("ü")}, ParameterFormatCodes: binary, ResultFormatCodes: binary}, &pgproto3.Execute{}, sync_},
			`1 / t [25] / T t:25:0 / 2 / D "x" / C SELECT 1 / 2 / D "" / C SELECT 1 / 2 / D "ü" / C SELECT 1 / Z I`},
		"no rows": {ms{&pgproto3.Parse{Query: "begin"}, &pgproto3.Describe{ObjectType: 'S'}, &pgproto3.Bind{ResultFormatCodes: []int16{0, 1}},
			&pgproto3.Describe{ObjectType: 'P'}, &pgproto3.Execute{}, sync_, &pgproto3.Query{String: "commit"}},
			"1 / t [] / n / 2 / n / C BEGIN / Z T / C COMMIT / Z I"},
		"empty":                {ms{&pgproto3.Parse{}, &pgproto3.Bind{}, &pgproto3.Execute{}, sync_}, "1 / 2 / I / Z I"},
		"skips until sync":     {ms{&pgproto3.Parse{Query: "syntax"}, &pgproto3.Bind{}, &pgproto3.Execute{}, &pgproto3.Query{String: "rows 1"}, sync_}, `E ERROR 42601 syntax error at or near "syntax" @1 / Z I`},
		"error at once":        {ms{&pgproto3.Parse{Query: "syntax"}, &pgproto3.Describe{ObjectType: 'S'}, &pgproto3.Flush{}}, `E ERROR 42601 syntax error at or near "syntax" @1`},
		"error at the end":     {ms{&pgproto3.Parse{Query: "late"}, &pgproto3.Bind{}, &pgproto3.Execute{}, sync_}, "1 / 2 / C LATE / E ERROR 40001 not committed / Z I"},
		"flush":                {ms{&pgproto3.Parse{Query: "rows 1"}, &pgproto3.Flush{}}, "1"},
		"sync alone":           {ms{sync_, sync_}, "Z I / Z I"},
		"close what is not":    {ms{&pgproto3.Close{ObjectType: 'S', Name: "x"}, &pgproto3.Close{ObjectType: 'P', Name: "x"}, sync_}, "3 / 3 / Z I"},
		"no such statement":    {ms{&pgproto3.Bind{PreparedStatement: "x"}, sync_}, `E ERROR 26000 prepared statement "x" does not exist / Z I`},
		"no such portal":       {ms{&pgproto3.Execute{Portal: "x"}, sync_}, `E ERROR 34000 portal "x" does not exist / Z I`},
		"describe what is not": {ms{&pgproto3.Describe{ObjectType: 'P', Name: "x"}, sync_}, `E ERROR 34000 portal "x" does not exist / Z I`},
		"name in use": {ms{&pgproto3.Parse{Name: "d", Query: "rows 1"}, &pgproto3.Parse{Name: "d", Query: "rows 1"}, sync_},
			`1 / E ERROR 42P05 prepared statement "d" already exists / Z I`},
		"too few parameters": {ms{&pgproto3.Parse{Query: "echo"}, &pgproto3.Bind{}, sync_},
			`1 / E ERROR 08P01 bind message supplies 0 parameters, but prepared statement "" requires 1 / Z I`},
		"parameter formats": {ms{&pgproto3.Parse{Query: "echo"}, &pgproto3.Bind{Parameters: [][]byte{nil}, ParameterFormatCodes: []int16{0, 0}}, sync_},
			`1 / E ERROR 08P01 bind message has 2 parameter formats but 1 parameters / Z I`},
		"result formats": {ms{&pgproto3.Parse{Query: "rows 1"}, &pgproto3.Bind{ResultFormatCodes: []int16{0, 0}}, sync_},
			`1 / E ERROR 08P01 bind message has 2 result formats but query has 1 columns / Z I`},
		"unknown parameter format": {ms{&pgproto3.Parse{Query: "echo"}, &pgproto3.Bind{Parameters: [][]byte{{}}, ParameterFormatCodes: []int16{2}}, sync_},
			`1 / E ERROR 22023 unsupported format code: 2 in unnamed portal parameter $1 / Z I`},
		"unknown result format": {ms{&pgproto3.Parse{Query: "rows 1"}, &pgproto3.Bind{ResultFormatCodes: []int16{7}}, sync_},
			`1 / E ERROR 22023 unsupported format code: 7 / Z I`},
		"parameter that is no text": {ms{&pgproto3.Parse{Query: "echo"}, &pgproto3.Bind{Parameters: [][]byte{{'a', 0xe2, 0x82}}}, sync_},
			`1 / E ERROR 22021 invalid byte sequence for encoding "UTF8": 0xe2 0x82 in unnamed portal parameter $1 / Z I`},
		"statement that is no text": {ms{&pgproto3.Parse{Query: "\xff"}, sync_}, `E ERROR 22021 invalid byte sequence for encoding "UTF8": 0xff / Z I`},
		"function call": {ms{&pgproto3.FunctionCall{Function: 1}},
			"E ERROR 0A000 the function call message is not supported | Call the function in a SELECT. / Z I"},
		"the last before a sync": {ms{&pgproto3.Parse{Query: "last"}, &pgproto3.Bind{}, &pgproto3.Execute{}, sync_, sync_},
			"1 / 2 / C LAST of all / Z I / Z I"},
		"the last before a flush": {ms{&pgproto3.Parse{Query: "last"}, &pgproto3.Bind{}, &pgproto3.Execute{}, &pgproto3.Flush{}}, "1 / 2 / C LAST"},
		"before another execute": {ms{&pgproto3.Parse{Name: "n", Query: "rows 2"}, &pgproto3.Bind{DestinationPortal: "p", PreparedStatement: "n"},
			&pgproto3.Parse{Query: "last"}, &pgproto3.Bind{}, &pgproto3.Execute{}, &pgproto3.Execute{Portal: "p", MaxRows: 1}, sync_},
			`1 / 2 / 1 / 2 / C LAST / D "1" / s / Z I`},
		"before an end": {ms{&pgproto3.Parse{Query: "last"}, &pgproto3.Bind{}, &pgproto3.Execute{}, &pgproto3.Flush{}, &pgproto3.Execute{}, &pgproto3.Terminate{}},
			"1 / 2 / C LAST / C LAST / gone"},
		"copy without copy": {ms{&pgproto3.CopyData{Data: []byte("x")}, &pgproto3.CopyDone{}, &pgproto3.CopyFail{}, sync_}, "Z I"},
		"aborts the transaction": {ms{&pgproto3.Query{String: "begin"}, &pgproto3.Parse{Query: "echo"}, &pgproto3.Bind{}, sync_, &pgproto3.Query{String: "commit"}},
			`C BEGIN / Z T / 1 / E ERROR 08P01 bind message supplies 0 parameters, but prepared statement "" requires 1 / Z E / C COMMIT / Z I`},
	} {
		t.Run(name, func(t *testing.T) {
			c := startNode(t, Options{}).login()
			c.send(q.send...)
			c.expect(q.want)
		})
	}
}

// TestSyncThatComesLater: a statement whose execution depends on a following Sync waits for the
// next message. It is not executed if the client disconnects or the server stops.
func TestSyncThatComesLater(t *testing.T) {
	n := startNode(t, Options{})
	c := n.login()
	c.send(&pgproto3.Parse{Query: "last"}, &pgproto3.Bind{}, &pgproto3.Execute{})
	c.send(sync_)
	c.expect("1 / 2 / C LAST of all / Z I")

	c.send(&pgproto3.Parse{Query: "last"}, &pgproto3.Bind{}, &pgproto3.Flush{}, &pgproto3.Execute{})
	c.expect("1 / 2")
	n.lastFake().c.end(errShutdown)
	c.expect("E FATAL 57P01 terminating connection due to administrator command / gone")
}

// TestMessagesThatAreNone: a malformed message ends the connection, because the start of the next
// one is unknown.
func TestMessagesThatAreNone(t *testing.T) {
	n := startNode(t, Options{MaxMessageSize: 1000})
	for name, c := range map[string]struct{ bytes, want string }{
		"unknown type":    {"!\x00\x00\x00\x04", "E FATAL 08P01 invalid frontend message type 33 / gone"},
		"length":          {"Q\x00\x00\x00\x03", "E FATAL 08P01 invalid message length / gone"},
		"too long":        {"Q\x00\xff\x00\x00", "E FATAL 08P01 invalid message length / gone"},
		"password":        {"p\x00\x00\x00\x05\x00", "E FATAL 08P01 invalid frontend message type 112 / gone"},
		"describe what":   {"D\x00\x00\x00\x06x\x00S\x00\x00\x00\x04", "E ERROR 08P01 invalid DESCRIBE message subtype 120 / Z I"},
		"close what":      {"C\x00\x00\x00\x06x\x00S\x00\x00\x00\x04", "E ERROR 08P01 invalid CLOSE message subtype 120 / Z I"},
		"end in a header": {"Q\x00", "gone"},
		"end in a body":   {"Q\x00\x00\x00\x40x", "gone"},
	} {
		t.Run(name, func(t *testing.T) {
			n.t = t
			client := n.login()
			client.write([]byte(c.bytes))
			if c.want == "gone" {
				client.nc.(interface{ CloseWrite() error }).CloseWrite() //nolint:errcheck // a socket of ours
			}
			client.expect(c.want)
		})
	}
}
