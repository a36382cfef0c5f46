package stream

import (
	"encoding/binary"

	"fiveways.dev/fiveways/internal/core/codec"
)

// AppendID appends an id of a sequence, relative to the previous one, which must not be greater.
// The first id of a sequence is relative to 0-0.
func AppendID(dst []byte, before, id ID) []byte {
	dst = binary.AppendUvarint(dst, id.Ms-before.Ms)
	if id.Ms == before.Ms {
		return binary.AppendUvarint(dst, id.Seq-before.Seq)
	}
	return binary.AppendUvarint(dst, id.Seq)
}

// ReadID reads an id that follows another in a sequence.
func ReadID(r *codec.Reader, before ID) ID {
	id := ID{before.Ms + r.Uvarint(), r.Uvarint()}
	if id.Ms == before.Ms {
		id.Seq += before.Seq
	}
	return id
}
