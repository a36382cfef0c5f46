package etcd

import (
	"unicode/utf8"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/protowire"
)

// The messages of the most frequent calls are parsed and encoded here without protobuf's machinery.
// The field numbers are those of rpc.proto.

// The tags of fields in answers: their number and wire type.
const (
	fieldHeader  = 1<<3 | byte(protowire.BytesType)
	fieldDeleted = 2<<3 | byte(protowire.VarintType)

	fieldCluster  = 1<<3 | byte(protowire.VarintType)
	fieldMember   = 2<<3 | byte(protowire.VarintType)
	fieldRevision = 3<<3 | byte(protowire.VarintType)
	fieldTerm     = 4<<3 | byte(protowire.VarintType)
)

// parsePut parses a PutRequest that has only a key and a value. The slices alias in. For any other
// request ok is false.
func parsePut(in []byte) (key, value []byte, ok bool) {
	for len(in) > 0 {
		number, kind, n := protowire.ConsumeTag(in)
		if n < 0 || kind != protowire.BytesType || number > 2 {
			return nil, nil, false
		}
		field, m := protowire.ConsumeBytes(in[n:])
		if m < 0 {
			return nil, nil, false
		}
		if in = in[n+m:]; number == 1 {
			key = field
		} else {
			value = field
		}
	}
	return key, value, true
}

// parseDelete parses a DeleteRangeRequest of one key, which aliases in. ok is false for any other
// request, and for one that asks for the value: such answers may be large and need an answer slot.
func parseDelete(in []byte) (key []byte, ok bool) {
	for len(in) > 0 {
		number, kind, n := protowire.ConsumeTag(in)
		switch {
		case n < 0:
			return nil, false
		case number == 1 && kind == protowire.BytesType:
			field, m := protowire.ConsumeBytes(in[n:])
			if m < 0 {
				return nil, false
			}
			key, n = field, n+m
		case number == 3 && kind == protowire.VarintType:
			v, m := protowire.ConsumeVarint(in[n:])
			if m < 0 || v != 0 {
				return nil, false
			}
			n += m
		default:
			return nil, false
		}
		in = in[n:]
	}
	return key, true
}

// appendHeader appends the header of an answer, as its first field.
func (s *Server) appendHeader(dst []byte, revision int64) []byte {
	dst = append(dst, fieldHeader, 0)
	at := len(dst)
	h := s.identity
	for _, f := range [...]struct {
		tag   byte
		value uint64
	}{{fieldCluster, h.cluster}, {fieldMember, h.member}, {fieldRevision, uint64(revision)}, {fieldTerm, h.term}} {
		if f.value != 0 {
			dst = protowire.AppendVarint(append(dst, f.tag), f.value)
		}
	}
	dst[at-1] = byte(len(dst) - at) // four varints take less than 128 bytes
	return dst
}

// memberIdentity is the identity of this server in headers. It never changes.
type memberIdentity struct{ cluster, member, term uint64 }

// sound reports whether the client's version is valid UTF-8.
func sound(md metadata.MD) bool {
	v := md[rpctypes.MetadataClientAPIVersionKey]
	return len(v) == 0 || utf8.ValidString(v[0])
}
