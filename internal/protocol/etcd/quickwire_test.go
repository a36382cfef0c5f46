package etcd

import (
	"bytes"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/protobuf/proto"
)

// Requests are parsed as protobuf parses them, and all but the plainest requests are left to
// protobuf.
func FuzzQuickRequests(f *testing.F) {
	for _, m := range []proto.Message{
		&pb.PutRequest{Key: []byte("/q/a/p/k"), Value: []byte("v")}, &pb.PutRequest{Key: []byte("k"), Lease: 7}, &pb.PutRequest{PrevKv: true},
		&pb.DeleteRangeRequest{Key: []byte("k")}, &pb.DeleteRangeRequest{Key: []byte("k"), PrevKv: true}, &pb.DeleteRangeRequest{RangeEnd: []byte("k")},
	} {
		b, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if key, value, ok := parsePut(in); ok {
			var want pb.PutRequest
			if err := proto.Unmarshal(in, &want); err != nil || !bytes.Equal(key, want.Key) || !bytes.Equal(value, want.Value) ||
				want.Lease != 0 || want.PrevKv || want.IgnoreLease || want.IgnoreValue {
				t.Fatalf("%q %q, want %v (%v)", key, value, &want, err)
			}
		}
		if key, ok := parseDelete(in); ok {
			var want pb.DeleteRangeRequest
			if err := proto.Unmarshal(in, &want); err != nil || !bytes.Equal(key, want.Key) || want.PrevKv || len(want.RangeEnd) != 0 {
				t.Fatalf("%q, want %v (%v)", key, &want, err)
			}
		}
	})
}

// The plain requests of clients are parsed, and the header is that of every other answer.
func TestQuickWire(t *testing.T) {
	put, err := proto.Marshal(&pb.PutRequest{Key: []byte("k"), Value: []byte("v")})
	if err != nil {
		t.Fatal(err)
	}
	if key, value, ok := parsePut(put); !ok || string(key) != "k" || string(value) != "v" {
		t.Fatalf("read %q %q %v", key, value, ok)
	}
	del, err := proto.Marshal(&pb.DeleteRangeRequest{Key: []byte("k"), PrevKv: true})
	if err != nil {
		t.Fatal(err)
	}
	if key, ok := parseDelete(del); ok {
		t.Fatalf("read %q of a request for the value", key)
	}
	if key, ok := parseDelete(del[:len(del)-2]); !ok || string(key) != "k" {
		t.Fatalf("read %q %v", key, ok)
	}
	n := newNode(t, Options{})
	for _, revision := range []int64{0, 1, 1 << 62} {
		got := &pb.PutResponse{}
		if err := proto.Unmarshal(n.appendHeader(nil, revision), got); err != nil {
			t.Fatal(err)
		}
		want := &pb.ResponseHeader{Revision: revision}
		n.keys.Fill(want)
		if !proto.Equal(got.Header, want) {
			t.Fatalf("header %v, want %v", got.Header, want)
		}
	}
}

// A delete that asks for the previous value gets it on the fast path, too.
func TestQueuePreviousValue(t *testing.T) {
	n := newNode(t, Options{})
	c := dial(t, n.addr)
	w := c.Watch(t.Context(), "/q/a/c/w")
	for _, key := range []string{"1", "2"} {
		putKey(t, c, "/q/a/p/"+key, "v"+key)
	}
	received(t, w, 2)
	kv := pb.NewKVClient(c.ActiveConnection())
	for _, r := range []*pb.DeleteRangeRequest{
		{Key: []byte("/q/a/c/w/" + index(1) + "/1"), PrevKv: true},
		{Key: []byte("/q/a/c/w/"), RangeEnd: []byte("/q/a/c/w0"), PrevKv: true},
	} {
		resp, err := kv.DeleteRange(t.Context(), r)
		if err != nil || resp.Deleted != 1 || len(resp.PrevKvs) != 1 {
			t.Fatalf("got %v (%v)", resp, err)
		}
		var got *mvccpb.KeyValue = resp.PrevKvs[0]
		if len(got.Value) != 2 || got.Version != 1 || got.ModRevision == 0 || resp.Header.Revision < got.ModRevision {
			t.Fatalf("got %v", resp)
		}
	}
}
