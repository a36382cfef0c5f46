//go:build unix

package grpcwire

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"google.golang.org/grpc"
	testpb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/protobuf/proto"
)

// echoing answers UnaryCall on the reader.
type echoing struct{}

func (echoing) Unary(c *Call, in []byte) bool {
	if !strings.HasSuffix(c.Method(), "/UnaryCall") {
		return false
	}
	var m testpb.SimpleRequest
	if proto.Unmarshal(in, &m) != nil {
		return false
	}
	c.Reply(&testpb.SimpleResponse{Payload: m.GetPayload()})
	return true
}
func (echoing) Admit(*Call) error { return nil }
func (echoing) Flush()            {}
func (echoing) Closed()           {}

// cpu returns the CPU time that the process has used, in microseconds.
func cpu(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Sec+u.Stime.Sec)*1e6 + float64(u.Utime.Usec+u.Stime.Usec)
}

// servers are the compared servers. The handler of "handlers" runs on a goroutine, that of "reader"
// on the connection's reader.
var servers = []struct {
	name  string
	start func(b *testing.B) (addr string)
}{
	{"grpc-go", func(b *testing.B) string { return startGo(b, &service{}, grpc.NumStreamWorkers(4)) }},
	{"handlers", func(b *testing.B) string { _, addr := start(b, Options{}, &service{}); return addr }},
	{"reader", func(b *testing.B) string {
		_, addr := start(b, Options{NewConn: func(ConnInfo) Conn { return echoing{} }}, &service{})
		return addr
	}},
}

// BenchmarkEcho measures echo calls of grpc-go's client. The client is in the same process:
// cpu-µs/op covers both sides.
func BenchmarkEcho(b *testing.B) {
	for _, load := range []struct{ conns, callers int }{{1, 1}, {1, 16}, {1, 64}, {16, 16}, {16, 64}} {
		for _, s := range servers {
			b.Run(fmt.Sprintf("conns=%d/callers=%d/%s", load.conns, load.callers, s.name), func(b *testing.B) {
				addr := s.start(b)
				clients := make([]testpb.TestServiceClient, load.conns)
				for i := range clients {
					clients[i] = dial(b, addr)
				}
				echo(b, clients, load.callers)
			})
		}
	}
}

// BenchmarkServer measures the server alone: the client writes calls that were encoded in advance,
// depth at a time, and only counts the answers.
func BenchmarkServer(b *testing.B) {
	for _, depth := range []int{1, 16, 64} {
		for _, s := range servers {
			b.Run(fmt.Sprintf("depth=%d/%s", depth, s.name), func(b *testing.B) { pipeline(b, s.start(b), depth) })
		}
	}
}

func pipeline(b *testing.B, addr string, depth int) {
	r := dialRaw(b, addr, true)
	r.nc.SetDeadline(time.Time{}) //nolint:errcheck // a local socket
	fields := with(":path", "/grpc.testing.TestService/UnaryCall", "user-agent", "bench")
	r.block(fields...)
	first, block := bytes.Clone(r.buf.Bytes()), r.block(fields...) // the second uses the table
	message := message5(0, encode(b, &testpb.SimpleRequest{Payload: &testpb.Payload{Body: pattern(100)}}))
	b.ResetTimer()
	before := cpu(b)
	var out, in []byte
	buf := make([]byte, 64<<10)
	id := uint32(1)
	for left := b.N; left > 0; {
		n := min(left, depth)
		out = out[:0]
		for range n {
			head := block
			if id == 1 {
				head = first
			}
			out = appendFrame(out, http2.FrameHeaders, http2.FlagHeadersEndHeaders, id, head...)
			out = appendFrame(out, http2.FrameData, http2.FlagDataEndStream, id, message...)
			id += 2
		}
		out = appendWindow(out, 0, uint32(n*200))
		r.write(out)
		left -= n
		in = r.ends(in, buf, n)
	}
	b.ReportMetric((cpu(b)-before)/float64(b.N), "cpu-µs/op")
}

// ends reads until n calls have ended. It returns the bytes read after that.
func (r *raw) ends(in, buf []byte, n int) []byte {
	start := in[:0]
	for {
		for len(in) >= frameHead {
			size := frameHead + int(in[0])<<16 + int(in[1])<<8 + int(in[2])
			if len(in) < size {
				break
			}
			if http2.FrameType(in[3]) == http2.FrameHeaders && http2.Flags(in[4]).Has(http2.FlagHeadersEndStream) {
				n--
			}
			in = in[size:]
		}
		in = append(start, in...)
		if n == 0 {
			return in
		}
		k, err := r.nc.Read(buf)
		r.ok(err)
		in = append(in, buf[:k]...)
	}
}

func echo(b *testing.B, clients []testpb.TestServiceClient, callers int) {
	ctx := b.Context()
	in := &testpb.SimpleRequest{Payload: &testpb.Payload{Body: pattern(100)}}
	for _, c := range clients {
		if _, err := c.UnaryCall(ctx, in); err != nil {
			b.Fatal(err)
		}
	}
	b.ResetTimer()
	before := cpu(b)
	var wg sync.WaitGroup
	for i := range callers {
		n := b.N / callers
		if i < b.N%callers {
			n++
		}
		wg.Go(func() {
			for range n {
				if _, err := clients[i%len(clients)].UnaryCall(ctx, in); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric((cpu(b)-before)/float64(b.N), "cpu-µs/op")
}
