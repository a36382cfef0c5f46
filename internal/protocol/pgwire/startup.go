package pgwire

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// The codes of a start-up packet: protocol versions, and requests sent in place of a version.
const (
	protocol3    = 3 << 16
	askSSL       = 1234<<16 | 5679
	askGSS       = 1234<<16 | 5680
	askCancel    = 1234<<16 | 5678
	maxStartUp   = 10000    // bytes, as in PostgreSQL
	maxLoginBody = 64 << 10 // bytes of a message before the login is over
	optionPrefix = "_pq_."  // of parameters for the protocol itself
)

// startUp handles everything up to the first command. It returns false if the connection is over;
// the client has then been told why.
func (c *conn) startUp() bool {
	packet, ok := firstPacket(c.nc, c.srv.conns.cancel)
	if !ok {
		return false
	}
	start, e := c.parameters(packet)
	if e == nil {
		c.in = frames{r: &countedReader{c.nc, &c.client.In}, limit: maxLoginBody}
		e = c.logIn(start)
	}
	if e != nil {
		c.giveUp(e)
		c.linger = true
		return false
	}
	if c.over { // the client has disconnected
		return false
	}
	c.in.limit = int(2*c.srv.o.MaxMessageSize) + maxLoginBody
	c.ready()
	return true
}

// firstPacket reads start-up packets up to the one with the protocol version. A cancel request or
// an invalid packet ends the connection silently.
func firstPacket(nc net.Conn, cancel func(pid uint32, key []byte)) (packet []byte, ok bool) {
	asked := map[uint32]bool{}
	for {
		var size [4]byte
		if _, err := io.ReadFull(nc, size[:]); err != nil {
			return nil, false
		}
		n := int64(binary.BigEndian.Uint32(size[:])) - 4
		if n < 4 || n > maxStartUp {
			return nil, false
		}
		packet = make([]byte, n)
		if _, err := io.ReadFull(nc, packet); err != nil {
			return nil, false
		}
		code := binary.BigEndian.Uint32(packet)
		switch {
		case code == askCancel:
			if len(packet) == 8+keyBytes {
				cancel(binary.BigEndian.Uint32(packet[4:]), packet[8:])
			}
			return nil, false
		case (code == askSSL || code == askGSS) && !asked[code]:
			asked[code] = true
			if _, err := nc.Write([]byte{'N'}); err != nil {
				return nil, false
			}
		default:
			return packet, true
		}
	}
}

// start is the content of a start-up packet.
type start struct {
	user, database string
	settings       []reported // in order of application: later ones override earlier ones
}

// parameters reads the start-up packet.
func (c *conn) parameters(packet []byte) (*start, *pgerror.Error) {
	version := binary.BigEndian.Uint32(packet)
	if version>>16 != protocol3>>16 {
		return nil, fatal(pgerror.FeatureNotSupported, "unsupported frontend protocol %d.%d: server supports 3.0 to 3.0", version>>16, version&0xffff)
	}
	s := &start{}
	var unknown []string
	var later []reported
	for rest := packet[4:]; ; {
		name, more, ok := bytes.Cut(rest, []byte{0})
		if !ok {
			return nil, fatal(pgerror.ProtocolViolation, "invalid startup packet layout: expected terminator as last byte")
		}
		if len(name) == 0 {
			if len(more) > 0 {
				return nil, fatal(pgerror.ProtocolViolation, "invalid startup packet layout: expected terminator as last byte")
			}
			break
		}
		val, more, ok := bytes.Cut(more, []byte{0})
		if !ok {
			return nil, fatal(pgerror.ProtocolViolation, "invalid startup packet layout: expected terminator as last byte")
		}
		rest = more
		if key, v := string(name), string(val); strings.HasPrefix(key, optionPrefix) {
			unknown = append(unknown, key)
		} else if e := s.parameter(key, v, &later); e != nil {
			return nil, e
		}
	}
	s.settings = append(s.settings, later...)
	if s.user == "" {
		return nil, fatal(pgerror.InvalidAuthorization, "no PostgreSQL user name specified in startup packet")
	}
	if s.database == "" {
		s.database = s.user
	}
	if version != protocol3 || unknown != nil {
		c.out.message(&pgproto3.NegotiateProtocolVersion{NewestMinorProtocol: protocol3, UnrecognizedOptions: unknown})
	}
	return s, nil
}

// parameter handles one parameter. Settings given as parameters override those in "options",
// wherever "options" stands.
func (s *start) parameter(name, value string, later *[]reported) *pgerror.Error {
	switch name {
	case "user":
		s.user = value
	case "database":
		s.database = value
	case "options":
		return s.commandLine(value)
	case "replication":
		if !slices.Contains([]string{"false", "off", "no", "0"}, value) {
			return fatal(pgerror.FeatureNotSupported, "replication connections are not supported")
		}
	default:
		*later = append(*later, reported{name, value})
	}
	return nil
}

// commandLine parses the parameter "options": command-line arguments for a server process, of which
// -c NAME=VALUE and --NAME=VALUE are supported.
func (s *start) commandLine(text string) *pgerror.Error {
	args := words(text)
	for i := 0; i < len(args); i++ {
		assignment, long := strings.CutPrefix(args[i], "--")
		if !long {
			var short bool
			if assignment, short = strings.CutPrefix(args[i], "-c"); !short {
				return fatal(pgerror.SyntaxError, "invalid command-line argument for server process: %s", args[i])
			}
			if assignment == "" && i+1 < len(args) {
				i++
				assignment = args[i]
			}
		}
		name, value, ok := strings.Cut(assignment, "=")
		if !ok {
			form := "-c %s requires a value"
			if long {
				form = "--%s requires a value"
			}
			return fatal(pgerror.SyntaxError, form, assignment)
		}
		s.settings = append(s.settings, reported{strings.ReplaceAll(name, "-", "_"), value})
	}
	return nil
}

// words splits a text at white space. A backslash escapes the next character.
func words(text string) (list []string) {
	var word []byte
	inside := false
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case b == ' ' || b >= '\t' && b <= '\r':
			if inside {
				list = append(list, string(word))
			}
			word, inside = word[:0], false
		default:
			if b == '\\' && i+1 < len(text) {
				i++
				b = text[i]
			}
			word, inside = append(word, b), true
		}
	}
	if inside {
		list = append(list, string(word))
	}
	return list
}
