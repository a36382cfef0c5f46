package etcd

import (
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3lock/v3lockpb"
)

// Requests whose answers contain values need an answer slot, wherever the value is requested.
// Requests that wait for other clients must not hold one, or they would keep it from the calls that
// they wait for.
func TestBulky(t *testing.T) {
	k := []byte("k")
	get := &pb.RequestOp{Request: &pb.RequestOp_RequestRange{RequestRange: &pb.RangeRequest{Key: k}}}
	put := &pb.RequestOp{Request: &pb.RequestOp_RequestPut{RequestPut: &pb.PutRequest{Key: k}}}
	putPrev := &pb.RequestOp{Request: &pb.RequestOp_RequestPut{RequestPut: &pb.PutRequest{Key: k, PrevKv: true}}}
	del := &pb.RequestOp{Request: &pb.RequestOp_RequestDeleteRange{RequestDeleteRange: &pb.DeleteRangeRequest{Key: k, PrevKv: true}}}
	nested := &pb.RequestOp{Request: &pb.RequestOp_RequestTxn{RequestTxn: &pb.TxnRequest{Failure: []*pb.RequestOp{put, get}}}}
	for _, req := range []any{
		&pb.RangeRequest{Key: k}, &pb.PutRequest{Key: k, PrevKv: true}, &pb.DeleteRangeRequest{Key: k, PrevKv: true}, &pb.LeaseLeasesRequest{},
		&pb.TxnRequest{Success: []*pb.RequestOp{put, get}}, &pb.TxnRequest{Failure: []*pb.RequestOp{putPrev}},
		&pb.TxnRequest{Failure: []*pb.RequestOp{del}}, &pb.TxnRequest{Success: []*pb.RequestOp{nested}},
	} {
		if !bulky(req) {
			t.Errorf("%T %v is not", req, req)
		}
	}
	for _, req := range []any{
		&pb.RangeRequest{Key: k, CountOnly: true}, &pb.PutRequest{Key: k}, &pb.DeleteRangeRequest{Key: k}, &v3lockpb.LockRequest{Name: k},
		&pb.TxnRequest{Success: []*pb.RequestOp{put}}, &pb.LeaseGrantRequest{TTL: 9},
	} {
		if bulky(req) {
			t.Errorf("%T %v is", req, req)
		}
	}
}

// A client that has not logged in cannot make the server buffer a large request: it is refused
// before it has arrived completely.
func TestLargeRequestOfNobody(t *testing.T) {
	n := controlled(t)
	nobody := dial(t, n.addr)
	large := string(make([]byte, 1<<20))
	if _, err := nobody.Put(t.Context(), "a", large); err == nil || err.Error() != "etcdserver: user name is empty" {
		t.Errorf("a put: %v", err)
	}
	_, err := pb.NewAuthClient(nobody.ActiveConnection()).Authenticate(t.Context(), &pb.AuthenticateRequest{Name: large, Password: "x"})
	if err == nil || err.Error() != errStranger.Error() {
		t.Errorf("a login: %v", err)
	}
}
