package grpcwire

import (
	"bytes"
	"io"
	"testing"

	testpb "google.golang.org/grpc/interop/grpc_testing"
)

func TestUnary(t *testing.T) {
	_, addr := start(t, Options{}, &service{})
	client := dial(t, addr)
	for _, size := range []int{0, 1, 100, 16 << 10, 100 << 10, 3 << 20} {
		body := pattern(size)
		out, err := client.UnaryCall(within(t), &testpb.SimpleRequest{Payload: &testpb.Payload{Body: body}})
		if err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		if !bytes.Equal(out.GetPayload().GetBody(), body) {
			t.Errorf("%d bytes came back as others", size)
		}
	}
}

func TestStreams(t *testing.T) {
	_, addr := start(t, Options{}, &service{})
	client := dial(t, addr)
	sizes := []int{0, 1, 5, 16 << 10, 70 << 10, 1 << 20, 3}
	t.Run("server", func(t *testing.T) {
		in := &testpb.StreamingOutputCallRequest{}
		for _, n := range sizes {
			in.ResponseParameters = append(in.ResponseParameters, &testpb.ResponseParameters{Size: int32(n)})
		}
		stream, err := client.StreamingOutputCall(within(t), in)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range sizes {
			m, err := stream.Recv()
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(m.GetPayload().GetBody(), pattern(n)) {
				t.Errorf("%d bytes came as others", n)
			}
		}
		if _, err := stream.Recv(); err != io.EOF {
			t.Errorf("the end is %v", err)
		}
	})
	t.Run("client", func(t *testing.T) {
		stream, err := client.StreamingInputCall(within(t))
		if err != nil {
			t.Fatal(err)
		}
		total := 0
		for _, n := range sizes {
			total += n
			if err := stream.Send(&testpb.StreamingInputCallRequest{Payload: &testpb.Payload{Body: pattern(n)}}); err != nil {
				t.Fatal(err)
			}
		}
		out, err := stream.CloseAndRecv()
		if err != nil || int(out.GetAggregatedPayloadSize()) != total {
			t.Errorf("%v, %v; want %d", out, err, total)
		}
	})
	t.Run("both", func(t *testing.T) {
		stream, err := client.FullDuplexCall(within(t))
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range sizes {
			if err := stream.Send(&testpb.StreamingOutputCallRequest{Payload: &testpb.Payload{Body: pattern(n)}}); err != nil {
				t.Fatal(err)
			}
			m, err := stream.Recv()
			if err != nil || !bytes.Equal(m.GetPayload().GetBody(), pattern(n)) {
				t.Fatalf("%d bytes: %v", n, err)
			}
		}
		if err := stream.CloseSend(); err != nil {
			t.Fatal(err)
		}
		if _, err := stream.Recv(); err != io.EOF {
			t.Errorf("the end is %v", err)
		}
		if got := stream.Trailer().Get("total"); len(got) != 1 {
			t.Errorf("trailer %q", got)
		}
	})
}
