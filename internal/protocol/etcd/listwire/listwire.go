// Package listwire encodes messages with many keys: protobuf's machinery would look at each key
// three times, and would write the computed sizes into keys that other streams are reading.
package listwire

import (
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// The first bytes of the fields of keys, events and the answers that list them.
const (
	fieldKVs    = 2<<3 | byte(protowire.BytesType)
	fieldEvents = 11<<3 | byte(protowire.BytesType)

	fieldType   = 1<<3 | byte(protowire.VarintType)
	fieldKV     = 2<<3 | byte(protowire.BytesType)
	fieldPrevKV = 3<<3 | byte(protowire.BytesType)

	fieldKey     = 1<<3 | byte(protowire.BytesType)
	fieldCreate  = 2<<3 | byte(protowire.VarintType)
	fieldMod     = 3<<3 | byte(protowire.VarintType)
	fieldVersion = 4<<3 | byte(protowire.VarintType)
	fieldValue   = 5<<3 | byte(protowire.BytesType)
	fieldLease   = 6<<3 | byte(protowire.VarintType)
)

// fewKeys is the number of keys up to which protobuf is faster.
const fewKeys = 4

// Encode implements grpcwire.Options.Encode for answers to ranges and events of watches with
// more than a few keys. It produces the same bytes as proto.Marshal.
func Encode(m proto.Message) (size int, encode func(dst []byte) ([]byte, error)) {
	switch r := m.(type) {
	case *pb.RangeResponse:
		if len(r.Kvs) > fewKeys {
			return encodeRange(r)
		}
	case *pb.WatchResponse:
		if len(r.Events) > fewKeys {
			return encodeEvents(r)
		}
	}
	return 0, nil
}

func encodeRange(r *pb.RangeResponse) (size int, encode func(dst []byte) ([]byte, error)) {
	before, after := &pb.RangeResponse{Header: r.Header}, &pb.RangeResponse{More: r.More, Count: r.Count}
	size = proto.Size(before) + proto.Size(after)
	for _, kv := range r.Kvs {
		size += sizeField(sizeKV(kv))
	}
	return size, func(dst []byte) ([]byte, error) {
		dst, err := proto.MarshalOptions{}.MarshalAppend(dst, before)
		for _, kv := range r.Kvs {
			dst = appendKV(dst, fieldKVs, kv)
		}
		if err != nil {
			return dst, err
		}
		return proto.MarshalOptions{}.MarshalAppend(dst, after)
	}
}

func encodeEvents(r *pb.WatchResponse) (size int, encode func(dst []byte) ([]byte, error)) {
	before := &pb.WatchResponse{
		Header: r.Header, WatchId: r.WatchId, Created: r.Created, Canceled: r.Canceled,
		CompactRevision: r.CompactRevision, CancelReason: r.CancelReason, Fragment: r.Fragment,
	}
	size = proto.Size(before)
	for _, e := range r.Events {
		size += sizeField(sizeEvent(e))
	}
	return size, func(dst []byte) ([]byte, error) {
		dst, err := proto.MarshalOptions{}.MarshalAppend(dst, before)
		for _, e := range r.Events {
			dst = appendEvent(dst, e)
		}
		return dst, err
	}
}

func sizeEvent(e *mvccpb.Event) (n int) {
	n = sizeNumber(int64(e.Type))
	for _, kv := range [...]*mvccpb.KeyValue{e.Kv, e.PrevKv} {
		if kv != nil {
			n += sizeField(sizeKV(kv))
		}
	}
	return n
}

func appendEvent(dst []byte, e *mvccpb.Event) []byte {
	dst = protowire.AppendVarint(append(dst, fieldEvents), uint64(sizeEvent(e)))
	dst = appendNumber(dst, fieldType, int64(e.Type))
	if e.Kv != nil {
		dst = appendKV(dst, fieldKV, e.Kv)
	}
	if e.PrevKv != nil {
		dst = appendKV(dst, fieldPrevKV, e.PrevKv)
	}
	return dst
}

func sizeKV(kv *mvccpb.KeyValue) int {
	return sizeBytes(kv.Key) + sizeNumber(kv.CreateRevision) + sizeNumber(kv.ModRevision) + sizeNumber(kv.Version) +
		sizeBytes(kv.Value) + sizeNumber(kv.Lease)
}

func appendKV(dst []byte, field byte, kv *mvccpb.KeyValue) []byte {
	dst = protowire.AppendVarint(append(dst, field), uint64(sizeKV(kv)))
	dst = appendBytes(dst, fieldKey, kv.Key)
	dst = appendNumber(dst, fieldCreate, kv.CreateRevision)
	dst = appendNumber(dst, fieldMod, kv.ModRevision)
	dst = appendNumber(dst, fieldVersion, kv.Version)
	dst = appendBytes(dst, fieldValue, kv.Value)
	return appendNumber(dst, fieldLease, kv.Lease)
}

// sizeField returns the size of a field of n bytes with its tag and length.
func sizeField(n int) int { return 1 + protowire.SizeBytes(n) }

// Fields that are empty or zero are left out.

func sizeBytes(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	return sizeField(len(b))
}

func appendBytes(dst []byte, field byte, b []byte) []byte {
	if len(b) == 0 {
		return dst
	}
	return protowire.AppendBytes(append(dst, field), b)
}

func sizeNumber(v int64) int {
	if v == 0 {
		return 0
	}
	return 1 + protowire.SizeVarint(uint64(v))
}

func appendNumber(dst []byte, field byte, v int64) []byte {
	if v == 0 {
		return dst
	}
	return protowire.AppendVarint(append(dst, field), uint64(v))
}
