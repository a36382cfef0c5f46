package grpcwire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/protobuf/proto"
)

// raw is a client that sends what a test wants, frame by frame.
type raw struct {
	t   testing.TB
	nc  net.Conn
	fr  *http2.Framer
	enc *hpack.Encoder
	dec *hpack.Decoder

	fields []hpack.HeaderField // of the last header block that was read
	buf    bytes.Buffer        // of enc
}

// dialRaw connects and, if preface is set, sends the preface and settings.
func dialRaw(t testing.TB, addr string, preface bool) *raw {
	t.Helper()
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	nc.SetDeadline(time.Now().Add(waitForAnswer)) //nolint:errcheck // a local socket
	r := rawOn(t, nc)
	if preface {
		r.write([]byte(http2.ClientPreface))
		r.ok(r.fr.WriteSettings())
	}
	return r
}

// rawOn returns a client on nc that has sent nothing.
func rawOn(t testing.TB, nc net.Conn) *raw {
	r := &raw{t: t, nc: nc, fr: http2.NewFramer(nc, nc)}
	r.fr.AllowIllegalWrites = true
	r.fr.AllowIllegalReads = true
	r.enc, r.dec = hpack.NewEncoder(&r.buf), hpack.NewDecoder(4096, nil)
	return r
}

func (r *raw) ok(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *raw) write(b []byte) {
	r.t.Helper()
	_, err := r.nc.Write(b)
	r.ok(err)
}

// usualFields returns the fields of a valid call of EmptyCall.
func usualFields() []string {
	return []string{
		":method", "POST", ":scheme", "http", ":path", "/grpc.testing.TestService/EmptyCall", ":authority", "here",
		"content-type", "application/grpc", "te", "trailers",
	}
}

// with returns usualFields with some fields replaced or added, or removed if the value is "-".
func with(pairs ...string) []string {
	fields := usualFields()
	for i := 0; i < len(pairs); i += 2 {
		at := -1
		for j := 0; j < len(fields); j += 2 {
			if fields[j] == pairs[i] {
				at = j
			}
		}
		switch {
		case pairs[i+1] == "-":
			fields = append(fields[:at], fields[at+2:]...)
		case at >= 0:
			fields[at+1] = pairs[i+1]
		default:
			fields = append(fields, pairs[i], pairs[i+1])
		}
	}
	return fields
}

// block encodes a header block.
func (r *raw) block(fields ...string) []byte {
	r.buf.Reset()
	for i := 0; i < len(fields); i += 2 {
		r.ok(r.enc.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]}))
	}
	return bytes.Clone(r.buf.Bytes())
}

// headers opens a call. end means that no message follows.
func (r *raw) headers(id uint32, end bool, fields ...string) {
	r.t.Helper()
	r.ok(r.fr.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: r.block(fields...), EndHeaders: true, EndStream: end}))
}

// message5 frames b as a gRPC message.
func message5(flag byte, b []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{flag}, uint32(len(b))), b...)
}

// next reads the next frame that matters to tests.
func (r *raw) next() (http2.Frame, error) {
	for {
		f, err := r.fr.ReadFrame()
		if err != nil {
			return nil, err
		}
		switch f := f.(type) {
		case *http2.SettingsFrame, *http2.WindowUpdateFrame:
			continue
		case *http2.PingFrame:
			if !f.IsAck() {
				continue
			}
		case *http2.HeadersFrame:
			if r.fields, err = r.dec.DecodeFull(f.HeaderBlockFragment()); err != nil {
				return nil, err
			}
		}
		return f, nil
	}
}

// nextFrame is next without errors.
func (r *raw) nextFrame() http2.Frame {
	r.t.Helper()
	f, err := r.next()
	r.ok(err)
	return f
}

func encode(t testing.TB, m proto.Message) []byte {
	t.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// transcript reads until the call or the connection has ended, and describes the end: the fields of
// the answer, a reset, or a GOAWAY.
func (r *raw) transcript(id uint32) string {
	var said []string
	for {
		f, err := r.next()
		if err != nil {
			if errors.Is(err, io.EOF) || strings.Contains(err.Error(), "reset by peer") {
				return strings.Join(append(said, "closed"), ", ")
			}
			return strings.Join(append(said, err.Error()), ", ")
		}
		switch f := f.(type) {
		case *http2.HeadersFrame:
			if f.StreamID != id {
				continue
			}
			said = append(said, answerFields(r.fields))
			if f.StreamEnded() {
				return strings.Join(said, ", ")
			}
		case *http2.DataFrame:
			if f.StreamID == id {
				said = append(said, fmt.Sprintf("%d bytes", len(f.Data())))
			}
		case *http2.RSTStreamFrame:
			if f.StreamID == id {
				return strings.Join(append(said, "reset "+f.ErrCode.String()), ", ")
			}
		case *http2.GoAwayFrame:
			said = append(said, "goaway "+f.ErrCode.String())
		}
	}
}

// answerFields formats the relevant fields of an answer.
func answerFields(fields []hpack.HeaderField) string {
	var out []string
	for _, f := range fields {
		switch f.Name {
		case ":status", "grpc-status", "grpc-accept-encoding":
			out = append(out, f.Name+"="+f.Value)
		case "grpc-message":
			if text, err := url.PathUnescape(f.Value); err == nil && text != "" {
				out = append(out, text)
			}
		}
	}
	slices.Sort(out)
	return "{" + strings.Join(out, " ") + "}"
}

// requests are single calls with their outcomes.
var requests = []struct {
	name   string
	fields []string
	data   []byte // nil: the headers end the request
	want   string // "": the same as grpc-go
}{
	{"good", with(), message5(0, nil), ""},
	{"another type", with("content-type", "application/json"), message5(0, nil), ""},
	{"no type", with("content-type", "-"), message5(0, nil), ""},
	{"type that only starts so", with("content-type", "application/grpcx"), message5(0, nil), ""},
	{"subtype", with("content-type", "application/grpc+proto"), message5(0, nil), ""},
	{"subtype after a semicolon", with("content-type", "application/grpc;proto"), message5(0, nil), ""},
	{"get", with(":method", "GET"), message5(0, nil), ""},
	{"no authority", with(":authority", "-"), message5(0, nil), ""},
	{"host instead", with(":authority", "-", "host", "here"), message5(0, nil), ""},
	{"two hosts", append(with("host", "here"), "host", "there"), message5(0, nil), ""},
	{"bad timeout", with("grpc-timeout", "5x"), message5(0, nil), ""},
	{"empty timeout", with("grpc-timeout", "5"), message5(0, nil), ""},
	{"long timeout", with("grpc-timeout", "123456789S"), message5(0, nil), ""},
	{"timeout without a number", with("grpc-timeout", "aS"), message5(0, nil), ""},
	{"timeout of nothing", with("grpc-timeout", "0n"), message5(0, nil), ""},
	{"timeout beyond all", with("grpc-timeout", "99999999H"), message5(0, nil), ""},
	{"bad base64", with("some-bin", "!"), message5(0, nil), ""},
	{"identity", with("grpc-encoding", "identity"), message5(0, nil), ""},
	{"unknown encoding", with("grpc-encoding", "snappy"), message5(0, nil),
		`{:status=200 grpc-accept-encoding=gzip grpc-status=12 grpc: Decompressor is not installed for grpc-encoding "snappy"}`},
	{"connection", with("connection", "close"), message5(0, nil), ""},
	{"te", with("te", "gzip"), message5(0, nil), "reset PROTOCOL_ERROR"},
	{"upper case", with("Upper", "x"), message5(0, nil), ""},
	{"pseudo field late", append(with(), ":late", "x"), message5(0, nil), ""},
	{"unknown pseudo field", append([]string{":odd", "x"}, with()...), message5(0, nil), ""},
	{"pseudo field twice", append([]string{":method", "POST"}, with()...), message5(0, nil), ""},
	{"no path", with(":path", "-"), message5(0, nil), "reset PROTOCOL_ERROR"},
	{"no scheme", with(":scheme", "-"), message5(0, nil), "reset PROTOCOL_ERROR"},
	{"no method", with(":method", "-"), message5(0, nil), "reset PROTOCOL_ERROR"},
	{"control character", with("x", "a\x01b"), message5(0, nil), ""},
	{"no message", with(), nil, "{:status=200 EOF grpc-status=2}"}, // grpc-go's server never answers
	{"empty data", with(), []byte{}, ""},
	{"half a head", with(), []byte{0, 0}, "{:status=200 grpc-status=2 unexpected EOF}"},
	{"half a message", with(), message5(0, pattern(9))[:8], ""},
	{"compressed without a name", with(), message5(1, []byte{1}), ""},
	{"strange format", with(), message5(7, []byte{1}), ""},
	{"broken gzip", with("grpc-encoding", "gzip"), message5(1, []byte{1, 2, 3}), ""},
	{"no protobuf", with(), message5(0, []byte{0xff}), ""},
	{"two messages", with(), append(message5(0, nil), message5(0, nil)...), ""},
	{"too large", with(), []byte{0, 0x10, 0, 0, 0}, ""},
	{"larger than all", with(), []byte{0, 0xff, 0xff, 0xff, 0xff}, ""},
	{"unknown service", with(":path", "/a/b"), message5(0, nil), ""},
	{"path without a slash", with(":path", "ab"), message5(0, nil), ""},
	{"stream without a message", with(":path", "/grpc.testing.TestService/StreamingOutputCall"), nil,
		"{:status=200 cardinality violation: received no request message from non-client-streaming RPC grpc-status=13}"}, // as above
	{"stream with two messages", with(":path", "/grpc.testing.TestService/StreamingOutputCall"), append(message5(0, nil), message5(0, nil)...), ""},
	{"stream with half a message", with(":path", "/grpc.testing.TestService/StreamingInputCall"), message5(0, pattern(9))[:8], ""},
	{"stream with no protobuf", with(":path", "/grpc.testing.TestService/FullDuplexCall"), message5(0, []byte{0xff}), ""},
}

func TestRequests(t *testing.T) {
	_, ours := start(t, Options{}, &service{})
	theirs := startGo(t, &service{})
	for _, rq := range requests {
		t.Run(rq.name, func(t *testing.T) {
			play := func(addr string) string {
				r := dialRaw(t, addr, true)
				r.headers(1, rq.data == nil, rq.fields...)
				if rq.data != nil {
					r.ok(r.fr.WriteData(1, true, rq.data))
				}
				return r.transcript(1)
			}
			want := rq.want
			if want == "" {
				want = play(theirs)
			}
			if got := play(ours); got != want {
				t.Errorf("%s\nwant %s", got, want)
			}
		})
	}
}
