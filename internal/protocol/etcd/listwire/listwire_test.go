package listwire

import (
	"bytes"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/protobuf/proto"
)

// TestEncode compares the encoded bytes with protobuf's.
func TestEncode(t *testing.T) {
	h := &pb.ResponseHeader{ClusterId: 1 << 63, MemberId: 7, Revision: 300, RaftTerm: 2}
	full := &mvccpb.KeyValue{Key: []byte("k"), CreateRevision: 1, ModRevision: 1 << 40, Version: 127, Value: bytes.Repeat([]byte("v"), 300), Lease: -1}
	removed := &mvccpb.KeyValue{Key: []byte("k"), ModRevision: 128}
	kvs := []*mvccpb.KeyValue{full, {}, removed, full, full}
	events := []*mvccpb.Event{{Kv: full}, {Type: mvccpb.Event_DELETE, Kv: removed, PrevKv: full}, {}, {Kv: &mvccpb.KeyValue{}}, {Kv: full}}
	for _, m := range []proto.Message{
		&pb.RangeResponse{Kvs: kvs}, &pb.RangeResponse{Header: h, Kvs: kvs, More: true, Count: 1 << 30},
		&pb.WatchResponse{Events: events}, &pb.WatchResponse{Header: h, WatchId: 3, Events: events, Fragment: true},
		&pb.WatchResponse{Header: h, WatchId: -1, Created: true, Canceled: true, CompactRevision: 9, CancelReason: "gone", Events: events},
	} {
		want, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		size, encode := Encode(m)
		if encode == nil {
			t.Errorf("%v is left to protobuf", m)
			continue
		}
		got, err := encode([]byte("before"))
		if err != nil || string(got) != "before"+string(want) || size != len(want) {
			t.Errorf("%v: %d bytes and %q (%v), want %d and %q", m, size, got, err, len(want), want)
		}
	}
	for _, m := range []proto.Message{&pb.PutResponse{}, &pb.RangeResponse{Kvs: kvs[:fewKeys]}, &pb.WatchResponse{Events: events[:fewKeys]}} {
		if _, encode := Encode(m); encode != nil {
			t.Errorf("%v is not left to protobuf", m)
		}
	}
}

// TestAllFields fails if a newer version of the API adds a field, which would be left
// out.
func TestAllFields(t *testing.T) {
	for m, want := range map[proto.Message]int{&pb.RangeResponse{}: 4, &pb.WatchResponse{}: 8, &mvccpb.Event{}: 3, &mvccpb.KeyValue{}: 6} {
		if d := m.ProtoReflect().Descriptor(); d.Fields().Len() != want {
			t.Errorf("%s has %d fields, not %d", d.Name(), d.Fields().Len(), want)
		}
	}
}
