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

// version is the version of the header. Nodes of two consecutive releases must understand it.
const version = 1

// The leader's answers to a header. A node that does not lead closes the stream without one.
const (
	taken     = 1 // it serves the connection; the bytes of the client protocol follow
	notServed = 2 // it does not serve the protocol
)

const (
	maxHeader = 64 << 10
	// maxCertificates bounds the length of a client's certificate chain.
	maxCertificates = 16
)

// ErrMalformed means that a stream does not begin with a header.
var ErrMalformed = errors.New("proxy: malformed header of a connection")

// header describes the client connection that a stream carries.
type header struct {
	key           string // of the listener that accepted it, as the configuration calls it
	local, remote net.Addr
	tls           *tls.ConnectionState // nil: plain
}

// headerOf returns the header of a client connection.
func headerOf(key string, nc net.Conn) header {
	h := header{key: key, local: nc.LocalAddr(), remote: nc.RemoteAddr()}
	if state, ok := protocol.StateOf(nc); ok {
		h.tls = &state
	}
	return h
}

// append appends the header, prefixed with its length. Certificates are sent as the client
// presented them. Unverified certificates are omitted.
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

// readHeader reads the header of a stream, and no further byte. Errors: ErrMalformed, those of r.
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

// readAddr reads an address. A TCP address is parsed; any other is kept as text.
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

// foreign is an address on another node that is not a TCP address.
type foreign struct{ network, text string }

func (a foreign) Network() string { return a.network }
func (a foreign) String() string  { return a.text }

// passed is a client connection that another node has passed on.
type passed struct {
	*protocol.Lent
	header
	node uint64 // the node that the client connected to
}

func (c *passed) LocalAddr() net.Addr  { return c.local }
func (c *passed) RemoteAddr() net.Addr { return c.remote }

// Node implements protocol.Passed.
func (c *passed) Node() uint64 { return c.node }

// ConnectionState returns the result of the client's TLS handshake with the other node
// (protocol.StateOf).
func (c *passed) ConnectionState() tls.ConnectionState {
	if c.tls == nil {
		return tls.ConnectionState{}
	}
	return *c.tls
}
