package inproc

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

// service is the test service.
type service struct {
	pb.UnimplementedKVServer
	pb.UnimplementedWatchServer
	seen *pb.PutRequest
	ctx  context.Context
}

func (s *service) Put(ctx context.Context, r *pb.PutRequest) (*pb.PutResponse, error) {
	s.seen, s.ctx = r, ctx
	if string(r.Key) == "bad" {
		return nil, errors.New("no status")
	}
	_ = grpc.SetHeader(ctx, metadata.Pairs("h", "1"))
	_ = grpc.SetTrailer(ctx, metadata.Pairs("t", "2"))
	return &pb.PutResponse{Header: &pb.ResponseHeader{Revision: 7}}, nil
}

// Watch echoes IDs, returns an error at -1, and at -2 waits for the end of its context.
func (s *service) Watch(stream pb.Watch_WatchServer) error {
	s.ctx = stream.Context()
	for {
		r, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		id := r.GetCancelRequest().WatchId
		if id == -1 {
			return status.Error(codes.DataLoss, "that was it")
		}
		if id == -2 {
			<-stream.Context().Done()
			return stream.Context().Err()
		}
		if err := stream.Send(&pb.WatchResponse{WatchId: id}); err != nil {
			return err
		}
	}
}

func serve(t *testing.T) (*Conn, *service) {
	t.Helper()
	c, s := New(nil, nil), &service{}
	pb.RegisterKVServer(c, s)
	pb.RegisterWatchServer(c, s)
	return c, s
}

func cancelOf(id int64) *pb.WatchRequest {
	return &pb.WatchRequest{RequestUnion: &pb.WatchRequest_CancelRequest{CancelRequest: &pb.WatchCancelRequest{WatchId: id}}}
}

func TestUnaryCarriesContextAndCopies(t *testing.T) {
	c, s := serve(t)
	from := &net.TCPAddr{IP: net.IPv4(10, 0, 0, 9), Port: 4}
	ctx := peer.NewContext(t.Context(), &peer.Peer{Addr: from})
	ctx = metadata.NewIncomingContext(ctx, metadata.Pairs("token", "of the caller"))
	ctx = metadata.AppendToOutgoingContext(ctx, "more", "x")
	var header, trailer metadata.MD
	r := &pb.PutRequest{Key: []byte("a"), Value: []byte("v")}
	out, err := pb.NewKVClient(c).Put(ctx, r, grpc.Header(&header), grpc.Trailer(&trailer))
	if err != nil || out.Header.Revision != 7 {
		t.Fatalf("%v, %v", out, err)
	}
	if s.seen == r || string(s.seen.Value) != "v" {
		t.Errorf("the service saw %v, which should be a copy", s.seen)
	}
	md, _ := metadata.FromIncomingContext(s.ctx)
	if md.Get("token")[0] != "of the caller" || md.Get("more")[0] != "x" {
		t.Errorf("metadata %v", md)
	}
	if p, ok := peer.FromContext(s.ctx); !ok || p.Addr != from {
		t.Errorf("peer %v", p)
	}
	if header.Get("h")[0] != "1" || trailer.Get("t")[0] != "2" {
		t.Errorf("header %v, trailer %v", header, trailer)
	}
}

func TestErrorsHaveAStatus(t *testing.T) {
	c, _ := serve(t)
	_, err := pb.NewKVClient(c).Put(t.Context(), &pb.PutRequest{Key: []byte("bad")})
	if s := status.Convert(err); s.Code() != codes.Unknown || s.Message() != "no status" {
		t.Errorf("an error without status: %v", err)
	}
	if _, err = pb.NewKVClient(c).Range(t.Context(), &pb.RangeRequest{}); status.Code(err) != codes.Unimplemented {
		t.Errorf("a method that the service does not have: %v", err)
	}
	if _, err = pb.NewLeaseClient(c).LeaseGrant(t.Context(), &pb.LeaseGrantRequest{}); status.Code(err) != codes.Unimplemented {
		t.Errorf("a service that is not there: %v", err)
	}
	if _, err = pb.NewLeaseClient(c).LeaseKeepAlive(t.Context()); status.Code(err) != codes.Unimplemented {
		t.Errorf("a stream that is not there: %v", err)
	}
}

func TestStreamEndsAsItsMethod(t *testing.T) {
	c, _ := serve(t)
	for _, test := range []struct {
		name string
		last *pb.WatchRequest
		want codes.Code
	}{{"the client has no more", nil, codes.OK}, {"an error", cancelOf(-1), codes.DataLoss}} {
		t.Run(test.name, func(t *testing.T) {
			stream, err := pb.NewWatchClient(c).Watch(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for id := range int64(3 * ahead) {
				if err := stream.Send(cancelOf(id)); err != nil {
					t.Fatal(err)
				}
				if r, err := stream.Recv(); err != nil || r.WatchId != id {
					t.Fatalf("%v, %v; want %d", r, err, id)
				}
			}
			if test.last == nil {
				_ = stream.CloseSend()
				_ = stream.CloseSend()
			} else if err := stream.Send(test.last); err != nil {
				t.Fatal(err)
			}
			_, err = stream.Recv()
			if test.want == codes.OK && err != io.EOF || test.want != codes.OK && status.Code(err) != test.want {
				t.Errorf("the end is %v", err)
			}
			if test.last != nil {
				if err := stream.Send(cancelOf(1)); err != io.EOF {
					t.Errorf("sending after the end: %v", err)
				}
			}
		})
	}
}

func TestCancelReachesTheMethod(t *testing.T) {
	over := make(chan error, 1)
	c := New(nil, func(srv any, ss grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		err := handler(srv, ss)
		over <- err
		return err
	})
	pb.RegisterWatchServer(c, &service{})
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := pb.NewWatchClient(c).Watch(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Send(cancelOf(-2)); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := withStatus(<-over); status.Code(err) != codes.Canceled {
		t.Errorf("the method ended with %v", err)
	}
	if _, err := stream.Recv(); status.Code(err) != codes.Canceled {
		t.Errorf("the caller got %v", err)
	}
}
