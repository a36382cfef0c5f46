package protocol

import (
	"log/slog"
	"net"
)

// How many of the files that the process may open are for the log and not for connections: at most
// sparedFiles, and a spareShare of all if that is less.
const (
	sparedFiles = 512
	spareShare  = 8
)

// SpareFiles returns a listener that keeps no connection while the process has hardly any more
// files to open: without those it could neither read nor write messages. Accept closes such a
// connection and returns a temporary error. parts is 2 for clients, and 1 for what must still be
// reached when clients have taken all they may.
func SpareFiles(ln net.Listener, parts int) net.Listener {
	most := openFiles()
	return &sparing{ln, most - min(sparedFiles, most/spareShare)*parts/2}
}

type sparing struct {
	net.Listener
	end int // the first file descriptor that no connection may have
}

// Accept implements net.Listener. The system gives a new connection the lowest free descriptor, so
// that one shows how many are taken.
func (l *sparing) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	if err == nil && descriptor(nc) >= l.end {
		nc.Close()
		return nil, &net.OpError{Op: "accept", Net: l.Addr().Network(), Addr: l.Addr(), Err: errSpared{}}
	}
	return nc, err
}

// errSpared is the error of a connection that was not kept.
type errSpared struct{}

func (errSpared) Error() string   { return "too many open files: the others are kept for the log" }
func (errSpared) Temporary() bool { return true }

// Patient returns a listener whose Accept retries if resources run out, as the function Accept
// does, for a caller that takes any error for the end. name is for the log.
func Patient(name string, ln net.Listener, log *slog.Logger) net.Listener {
	return &patient{ln, name, log}
}

type patient struct {
	net.Listener
	name string
	log  *slog.Logger
}

// Accept implements net.Listener.
func (l *patient) Accept() (net.Conn, error) { return next(l.name, l.Listener, l.log) }
