package grpcwire

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding/gzip"
	testpb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// outcome describes everything that a client sees of the end of a call.
func outcome(err error, header, trailer metadata.MD) string {
	st := status.Convert(err)
	out := fmt.Sprintf("%v %q details %v", st.Code(), st.Message(), st.Details())
	for _, md := range []metadata.MD{header, trailer} {
		for _, name := range slices.Sorted(maps.Keys(md)) {
			out += fmt.Sprintf(" %s=%q", name, md[name])
		}
		out += ";"
	}
	return out
}

// comparisons are calls that must have the same outcome as with grpc-go's server.
var comparisons = []struct {
	name string
	call func(ctx context.Context, c testpb.TestServiceClient, o ...grpc.CallOption) (string, error)
}{
	{"empty", func(ctx context.Context, c testpb.TestServiceClient, o ...grpc.CallOption) (string, error) {
		_, err := c.EmptyCall(ctx, &testpb.Empty{}, o...)
		return "", err
	}},
	{"metadata", func(ctx context.Context, c testpb.TestServiceClient, o ...grpc.CallOption) (string, error) {
		ctx = metadata.AppendToOutgoingContext(ctx, "echo", "one", "echo", "two, three", "echo-bin", "\x00\xff raw", "echo-bin", "")
		_, err := c.UnaryCall(ctx, &testpb.SimpleRequest{}, o...)
		return "", err
	}},
	{"metadata with an error", func(ctx context.Context, c testpb.TestServiceClient, o ...grpc.CallOption) (string, error) {
		ctx = metadata.AppendToOutgoingContext(ctx, "echo", "one")
		_, err := c.UnaryCall(ctx, &testpb.SimpleRequest{ResponseStatus: &testpb.EchoStatus{Code: 9, Message: "no"}}, o...)
		return "", err
	}},
	{"odd message", func(ctx context.Context, c testpb.TestServiceClient, o ...grpc.CallOption) (string, error) {
		st := &testpb.EchoStatus{Code: 5, Message: "100 % of ünïcode\n\t☃ and \x7f"}
		_, err := c.UnaryCall(ctx, &testpb.SimpleRequest{ResponseStatus: st}, o...)
		return "", err
	}},
	{"long message", func(ctx context.Context, c testpb.TestServiceClient, o ...grpc.CallOption) (string, error) {
		st := &testpb.EchoStatus{Code: 5, Message: strings.Repeat("long and ☃ ", 4000)}
		_, err := c.UnaryCall(ctx, &testpb.SimpleRequest{ResponseStatus: st}, o...)
		return "", err
	}},
	{"details", func(ctx context.Context, c testpb.TestServiceClient, o ...grpc.CallOption) (string, error) {
		_, err := c.UnaryCall(ctx, &testpb.SimpleRequest{ResponseStatus: &testpb.EchoStatus{Code: 8, Message: "with details"}}, o...)
		return "", err
	}},
	{"no status", func(ctx context.Context, c testpb.TestServiceClient, o ...grpc.CallOption) (string, error) {
		_, err := c.EmptyCall(metadata.AppendToOutgoingContext(ctx, "do", "plain error"), &testpb.Empty{}, o...)
		return "", err
	}},
	{"end of file as an error", func(ctx context.Context, c testpb.TestServiceClient, o ...grpc.CallOption) (string, error) {
		_, err := c.EmptyCall(metadata.AppendToOutgoingContext(ctx, "do", "eof"), &testpb.Empty{}, o...)
		return "", err
	}},
	{"peer", func(ctx context.Context, c testpb.TestServiceClient, o ...grpc.CallOption) (string, error) {
		_, err := c.EmptyCall(metadata.AppendToOutgoingContext(ctx, "do", "peer"), &testpb.Empty{}, o...)
		return "", err
	}},
	{"method", func(ctx context.Context, c testpb.TestServiceClient, o ...grpc.CallOption) (string, error) {
		_, err := c.EmptyCall(metadata.AppendToOutgoingContext(ctx, "do", "method"), &testpb.Empty{}, o...)
		return "", err
	}},
	{"unknown method", func(ctx context.Context, c testpb.TestServiceClient, o ...grpc.CallOption) (string, error) {
		_, err := c.UnimplementedCall(ctx, &testpb.Empty{}, o...)
		return "", err
	}},
	{"deadline", func(ctx context.Context, c testpb.TestServiceClient, _ ...grpc.CallOption) (string, error) {
		ctx, cancel := context.WithTimeout(metadata.AppendToOutgoingContext(ctx, "do", "wait"), 50*time.Millisecond)
		defer cancel()
		_, err := c.EmptyCall(ctx, &testpb.Empty{})
		return "", status.Error(status.Code(err), "") // either client or server may be first
	}},
	{"too large for the server", func(ctx context.Context, c testpb.TestServiceClient, o ...grpc.CallOption) (string, error) {
		_, err := c.UnaryCall(ctx, &testpb.SimpleRequest{Payload: &testpb.Payload{Body: pattern(5 << 20)}}, o...)
		return "", err
	}},
	{"too large to send", func(ctx context.Context, c testpb.TestServiceClient, o ...grpc.CallOption) (string, error) {
		_, err := c.UnaryCall(ctx, &testpb.SimpleRequest{ResponseSize: 2 << 20}, o...)
		return "", err
	}},
	{"too large to stream", func(ctx context.Context, c testpb.TestServiceClient, o ...grpc.CallOption) (string, error) {
		s, err := c.StreamingOutputCall(ctx, &testpb.StreamingOutputCallRequest{
			ResponseParameters: []*testpb.ResponseParameters{{Size: 7}, {Size: 2 << 20}},
		}, o...)
		if err != nil {
			return "", err
		}
		return drainStream(s.Recv)
	}},
	{"compressed", func(ctx context.Context, c testpb.TestServiceClient, o ...grpc.CallOption) (string, error) {
		body := bytes.Repeat([]byte("again and "), 50_000)
		out, err := c.UnaryCall(ctx, &testpb.SimpleRequest{Payload: &testpb.Payload{Body: body}}, append(o, grpc.UseCompressor(gzip.Name))...)
		return fmt.Sprint(bytes.Equal(out.GetPayload().GetBody(), body)), err
	}},
	{"a bomb", func(ctx context.Context, c testpb.TestServiceClient, o ...grpc.CallOption) (string, error) {
		body := make([]byte, 5<<20)
		_, err := c.UnaryCall(ctx, &testpb.SimpleRequest{Payload: &testpb.Payload{Body: body}}, append(o, grpc.UseCompressor(gzip.Name))...)
		return "", err
	}},
	{"compressed streams", func(ctx context.Context, c testpb.TestServiceClient, o ...grpc.CallOption) (string, error) {
		return echoes(ctx, c, append(o, grpc.UseCompressor(gzip.Name))...)
	}},
	{"duplex", echoes},
	{"duplex with an error", func(ctx context.Context, c testpb.TestServiceClient, o ...grpc.CallOption) (string, error) {
		s, err := c.FullDuplexCall(ctx, o...)
		if err != nil {
			return "", err
		}
		s.Send(&testpb.StreamingOutputCallRequest{ResponseStatus: &testpb.EchoStatus{Code: 10, Message: "aborted"}}) //nolint:errcheck // Recv tells
		return drainStream(s.Recv)
	}},
	{"unknown stream", func(ctx context.Context, c testpb.TestServiceClient, o ...grpc.CallOption) (string, error) {
		s, err := c.HalfDuplexCall(ctx, o...)
		if err != nil {
			return "", err
		}
		return drainStream(s.Recv)
	}},
	{"another content type", func(ctx context.Context, c testpb.TestServiceClient, o ...grpc.CallOption) (string, error) {
		_, err := c.EmptyCall(ctx, &testpb.Empty{}, append(o, grpc.CallContentSubtype("proto"))...)
		return "", err
	}},
}

// drainStream counts messages until the end.
func drainStream[T any](recv func() (T, error)) (string, error) {
	for n := 0; ; n++ {
		if _, err := recv(); err == io.EOF {
			return fmt.Sprint(n), nil
		} else if err != nil {
			return fmt.Sprint(n), err
		}
	}
}

func echoes(ctx context.Context, c testpb.TestServiceClient, o ...grpc.CallOption) (string, error) {
	s, err := c.FullDuplexCall(ctx, o...)
	if err != nil {
		return "", err
	}
	for _, n := range []int{0, 10, 100_000} {
		if err := s.Send(&testpb.StreamingOutputCallRequest{Payload: &testpb.Payload{Body: pattern(n)}}); err != nil {
			return "", err
		}
	}
	s.CloseSend() //nolint:errcheck // Recv returns the error
	return drainStream(s.Recv)
}

// TestAsGRPCGo compares the outcomes of calls with those of grpc-go's server.
func TestAsGRPCGo(t *testing.T) {
	_, ours := start(t, Options{MaxSendBytes: 1 << 20}, &service{})
	servers := []testpb.TestServiceClient{dial(t, ours), dial(t, startGo(t, &service{}, grpc.MaxSendMsgSize(1<<20)))}
	for _, cmp := range comparisons {
		t.Run(cmp.name, func(t *testing.T) {
			var got [2]string
			for i, client := range servers {
				var header, trailer metadata.MD
				out, err := cmp.call(within(t), client, grpc.Header(&header), grpc.Trailer(&trailer))
				got[i] = out + " " + outcome(err, header, trailer)
			}
			if got[0] != got[1] {
				t.Errorf("here     %s\ngrpc-go  %s", got[0], got[1])
			}
		})
	}
}

// TestUnknownService calls a path that grpc-go's client does not know.
func TestUnknownService(t *testing.T) {
	_, ours := start(t, Options{}, &service{})
	for _, path := range []string{"/no.Service/Method", "/grpc.testing.TestService/None", "/", "//", "/a", "/grpc.testing.TestService/"} {
		var got [2]string
		for i, addr := range []string{ours, startGo(t, &service{})} {
			cc, err := grpc.NewClient(addr, insecureDial())
			if err != nil {
				t.Fatal(err)
			}
			defer cc.Close()
			err = cc.Invoke(within(t), path, &testpb.Empty{}, &testpb.Empty{})
			got[i] = outcome(err, nil, nil)
			if status.Code(err) != codes.Unimplemented {
				t.Errorf("%s: %v", path, err)
			}
		}
		if got[0] != got[1] {
			t.Errorf("%s: here %s, grpc-go %s", path, got[0], got[1])
		}
	}
}
