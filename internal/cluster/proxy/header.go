package proxy

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"

	"fiveways.dev/fiveways/internal/core/codec"
	"fiveways.dev/fiveways/internal/protocol"
)

// version is that of the header. Nodes of two versions that follow each other understand it.
const version = 1

// taken is what the leader answers to a header when the connection is served. What the protocol
// says follows.
const taken = 1

const (
	maxHeader = 64 << 10
	// maxCertificates bounds the chain of a client.
	maxCertificates = 16
)

// ErrMalformed means that a stream does not begin with a header.
var ErrMalformed = errors.New("proxy: malformed header of a connection")

// header says whose connection a stream is.
type header struct {
	key           string // of the listener that it came to, as the configuration calls it
	local, remote net.Addr
	tls           *tls.ConnectionState // nil: plain
}

// headerOf is that of a client's connection.
func headerOf(key string, nc net.Conn) header {
	h := header{key: key, local: nc.LocalAddr(), remote: nc.RemoteAddr()}
	if state, ok := protocol.StateOf(nc); ok {
		h.tls = &state
	}
	return h
}

// append appends the header behind its length. Certificates go as the client showed them; those
// that were not checked are left out.
func (h *header) append(dst []byte) []byte {
	b := codec.AppendPrefixed([]byte{version}, h.key)
	for _, a := range []net.Addr{h.local, h.remote} {
		b = codec.AppendPrefixed(b, a.Network())
		b = codec.AppendPrefixed(b, a.String())
	}
	if h.tls == nil {
		b = append(b, 0)
	} else {
		b = codec.AppendUvarints(append(b, 1), uint64(h.tls.Version), uint64(h.tls.CipherSuite))
		b = codec.AppendPrefixed(b, h.tls.NegotiatedProtocol)
		b = codec.AppendPrefixed(b, h.tls.ServerName)
		var chain []*x509.Certificate
		if len(h.tls.VerifiedChains) > 0 {
			chain = h.tls.VerifiedChains[0]
		}
		b = binary.AppendUvarint(b, uint64(len(chain)))
		for _, c := range chain {
			b = codec.AppendPrefixed(b, c.Raw)
		}
	}
	return append(binary.LittleEndian.AppendUint32(dst, uint32(len(b))), b...)
}

// readHeader reads the header of a stream, and not a byte more. Errors: ErrMalformed, those of r.
func readHeader(r io.Reader) (h header, err error) {
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return h, err
	}
	n := binary.LittleEndian.Uint32(length[:])
	if n > maxHeader {
		return h, fmt.Errorf("%w: %d bytes", ErrMalformed, n)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return h, err
	}
	return decodeHeader(b)
}

func decodeHeader(b []byte) (h header, err error) {
	r := codec.NewReader(b)
	if v := r.Uint8(); v != version {
		return h, fmt.Errorf("%w: version %d", ErrMalformed, v)
	}
	h.key = r.String()
	h.local, h.remote = readAddr(&r), readAddr(&r)
	switch r.Uint8() {
	case 0:
	case 1:
		h.tls = readState(&r)
	default:
		r.Fail(ErrMalformed)
	}
	if err := r.End(); err != nil {
		return h, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return h, nil
}

// readAddr reads an address: of TCP as the network knows it, else a text.
func readAddr(r *codec.Reader) net.Addr {
	network, text := r.String(), r.String()
	if network != "tcp" {
		return foreign{network, text}
	}
	at, err := netip.ParseAddrPort(text)
	if err != nil {
		r.Fail(err)
	}
	return net.TCPAddrFromAddrPort(at)
}

func readState(r *codec.Reader) *tls.ConnectionState {
	state := &tls.ConnectionState{HandshakeComplete: true, Version: uint16(r.Uvarint()), CipherSuite: uint16(r.Uvarint())}
	state.NegotiatedProtocol, state.ServerName = r.String(), r.String()
	n := r.Count(1)
	if n > maxCertificates {
		r.Fail(ErrMalformed)
		return nil
	}
	for range n {
		c, err := x509.ParseCertificate(r.Prefixed())
		if err != nil {
			r.Fail(err)
			return nil
		}
		state.PeerCertificates = append(state.PeerCertificates, c)
	}
	if n > 0 {
		state.VerifiedChains = [][]*x509.Certificate{state.PeerCertificates}
	}
	return state
}

// foreign is an address on another node that is none of TCP.
type foreign struct{ network, text string }

func (a foreign) Network() string { return a.network }
func (a foreign) String() string  { return a.text }

// passed is the connection of a client that another node has passed on.
type passed struct {
	*protocol.Lent
	header
	node uint64 // that the client has connected to
}

func (c *passed) LocalAddr() net.Addr  { return c.local }
func (c *passed) RemoteAddr() net.Addr { return c.remote }

// Node implements protocol.Passed.
func (c *passed) Node() uint64 { return c.node }

// ConnectionState is what the client's handshake with the other node came to (protocol.StateOf).
func (c *passed) ConnectionState() tls.ConnectionState {
	if c.tls == nil {
		return tls.ConnectionState{}
	}
	return *c.tls
}
