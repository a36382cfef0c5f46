package transport

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"fiveways.dev/fiveways/internal/core/codec"
	"fiveways.dev/fiveways/internal/replica/level"
)

// magic begins a hello; version is the version of the format of this package.
const (
	magic   = "FWCL"
	version = 1
)

// purpose is the purpose of a connection.
type purpose byte

const (
	controlLink purpose = iota
	bulkLink
	streamLink
)

// hello is the first frame of a connection.
type hello struct {
	cluster  uint64
	from, to uint64 // replica ids
	purpose  purpose
	stream   string      // purpose of a stream
	address  string      // at which the dialing node accepts connections
	levels   level.Range // that the node supports
	level    uint64      // of its log
	clock    int64       // the node's wall clock, ns since 1970
}

// ErrRefused means that the peer refused the connection. The text has its reason.
var ErrRefused = errors.New("transport: the peer refused the connection")

// errForeign means that a connection does not use this protocol at all.
var errForeign = errors.New("not a connection of a Fiveways node")

func (h *hello) append(dst []byte) []byte {
	start := len(dst)
	dst = append(beginFrame(dst), magic...)
	dst = append(dst, version)
	dst = binary.AppendUvarint(dst, h.cluster)
	dst = binary.AppendUvarint(dst, h.from)
	dst = binary.AppendUvarint(dst, h.to)
	dst = append(dst, byte(h.purpose))
	dst = codec.AppendPrefixed(dst, h.stream)
	dst = codec.AppendPrefixed(dst, h.address)
	dst = codec.AppendUvarints(h.levels.Append(dst), h.level, uint64(h.clock))
	endFrame(dst, start)
	return dst
}

func readHello(r io.Reader) (h hello, err error) {
	payload, err := readFrame(r, maxHello)
	if errors.Is(err, ErrFrameTooLong) || errors.Is(err, ErrChecksum) {
		return h, errForeign
	}
	if err != nil {
		return h, err
	}
	c := codec.NewReader(payload)
	if string(c.Bytes(len(magic))) != magic {
		return h, errForeign
	}
	if v := c.Uint8(); c.Err() == nil && v != version {
		return h, fmt.Errorf("version %d of the cluster's protocol, this node has %d", v, version)
	}
	h.cluster, h.from, h.to = c.Uvarint(), c.Uvarint(), c.Uvarint()
	h.purpose, h.stream, h.address = purpose(c.Uint8()), c.String(), c.String()
	h.levels, h.level, h.clock = level.Read(&c), c.Uvarint(), int64(c.Uvarint())
	if c.Err() != nil || h.purpose > streamLink { // a newer version may append fields
		return h, errForeign
	}
	return h, nil
}

// answer answers a hello. An empty refusal accepts it.
func answer(w io.Writer, refusal string) error {
	frame := append(beginFrame(nil), refusal...)
	endFrame(frame, 0)
	_, err := w.Write(frame)
	return err
}

// greet sends hello on a dialed connection and reads the answer.
func greet(nc net.Conn, h *hello, patience time.Duration) error {
	nc.SetDeadline(time.Now().Add(patience)) //nolint:errcheck // reading tells
	if _, err := nc.Write(h.append(nil)); err != nil {
		return err
	}
	refusal, err := readFrame(nc, maxHello)
	if err != nil {
		return err
	}
	if len(refusal) > 0 {
		return fmt.Errorf("%w: %s", ErrRefused, refusal)
	}
	return nc.SetDeadline(time.Time{})
}
