package grpcwire

import "golang.org/x/net/http2/hpack"

// Indexes of HPACK's static table that answers use, and the first index of the dynamic table.
const (
	indexStatus200   = 8
	indexContentType = 31
	firstDynamic     = 62
)

const contentType = "application/grpc"

// headerEncoder appends header blocks. It adds two fields to the client's dynamic table, which
// occur in every successful answer. It writes all other fields as literals, so that the indexes of
// the two never change.
type headerEncoder struct {
	small    bool // the client's table is smaller than HPACK's default size and is not used
	resize   bool // the next block must begin with a table size update
	kept     int  // fields in the client's table
	typeKept int  // the content type is the n-th of them; 0: it is not in the table
	okKept   int  // the same for grpc-status 0
}

// tableSize sets the size of the client's table.
func (e *headerEncoder) tableSize(n uint32) {
	const hpackFirstSize = 4096
	if n < hpackFirstSize && !e.small {
		e.small, e.resize = true, true
	}
}

// begin appends a table size update if one is due.
func (e *headerEncoder) begin(dst []byte) []byte {
	if e.resize {
		e.resize = false
		dst = append(dst, 0x20) // table size update to 0
	}
	return dst
}

// good appends the first fields of a successful answer.
func (e *headerEncoder) good(dst []byte) []byte {
	dst = append(dst, 0x80|indexStatus200)
	return e.field(dst, &e.typeKept, 0x40|indexContentType, "", contentType)
}

// statusOK appends grpc-status 0.
func (e *headerEncoder) statusOK(dst []byte) []byte {
	return e.field(dst, &e.okKept, 0x40, "grpc-status", "0")
}

// field appends a field and adds it to the client's table, if the table is used. head is the first
// byte of its first representation. name is empty if head contains the index of the name.
func (e *headerEncoder) field(dst []byte, kept *int, head byte, name, value string) []byte {
	switch {
	case e.small && name == "":
		return appendString(append(dst, 0x0f, indexContentType-15), value)
	case e.small:
		return appendLiteral(dst, name, value)
	case *kept > 0:
		return append(dst, 0x80|byte(firstDynamic+e.kept-*kept))
	}
	e.kept++
	*kept = e.kept
	dst = append(dst, head)
	if name != "" {
		dst = appendString(dst, name)
	}
	return appendString(dst, value)
}

// appendLiteral appends a field without indexing.
func appendLiteral(dst []byte, name, value string) []byte {
	return appendString(appendString(append(dst, 0), name), value)
}

// appendString appends a string, Huffman-coded if that is shorter.
func appendString(dst []byte, s string) []byte {
	const plain, huffman = 0, 0x80
	if n := hpack.HuffmanEncodeLength(s); n < uint64(len(s)) {
		return hpack.AppendHuffmanString(appendNumber(dst, huffman, n), s)
	}
	return append(appendNumber(dst, plain, uint64(len(s))), s...)
}

// appendNumber appends n with a prefix of seven bits.
func appendNumber(dst []byte, head byte, n uint64) []byte {
	const most = 1<<7 - 1
	if n < most {
		return append(dst, head|byte(n))
	}
	dst = append(dst, head|most)
	for n -= most; n >= 0x80; n >>= 7 {
		dst = append(dst, 0x80|byte(n))
	}
	return append(dst, byte(n))
}
