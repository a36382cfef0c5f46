package protocol

import (
	"errors"
	"net"
	"os"
	"syscall"
)

// Sender writes to a socket what it takes at once, where the system can do that. Only one goroutine
// at a time may use it, and nothing else may write meanwhile.
type Sender struct {
	raw syscall.RawConn // nil: the connection can only be written in the plain way
	try func(fd uintptr) bool
	b   []byte // argument of try
	n   int    // outcome of try
	err error  // outcome of try
}

// Init makes nc what is written to.
func (s *Sender) Init(nc net.Conn) {
	sc, ok := nc.(syscall.Conn)
	if !ok || !canWriteRaw {
		return
	}
	if raw, err := sc.SyscallConn(); err == nil {
		s.raw, s.try = raw, s.tryWrite
	}
}

// Can reports whether Try does anything.
func (s *Sender) Can() bool { return s.raw != nil }

// Try writes as much of b as the socket takes without waiting, which may be
// nothing, and returns how much that is. After the connection's write deadline it
// is nothing.
func (s *Sender) Try(b []byte) (int, error) {
	s.b = b
	err := s.raw.Write(s.try)
	s.b = nil
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return 0, nil
	case err != nil:
		return 0, err
	}
	return s.n, s.err
}

// tryWrite is done after one write, whatever came of it.
func (s *Sender) tryWrite(fd uintptr) bool {
	s.n, s.err = rawWrite(fd, s.b)
	return true
}
