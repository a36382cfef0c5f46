package protocol

import (
	"errors"
	"net"
	"os"
	"syscall"
)

// Sender writes to a socket without waiting, where the system supports that. Only one goroutine at
// a time may use it, and nothing else may write meanwhile.
type Sender struct {
	raw syscall.RawConn // nil: the connection only has Write
	try func(fd uintptr) bool
	b   []byte // argument of try
	n   int    // result of try
	err error  // result of try
}

// Init sets the connection to write to.
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

// Try writes as much of b as the socket accepts without waiting, and returns how much that was:
// possibly nothing, and always nothing after the connection's write deadline.
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

// tryWrite writes once and reports true, whatever the outcome.
func (s *Sender) tryWrite(fd uintptr) bool {
	s.n, s.err = rawWrite(fd, s.b)
	return true
}
