package pgwire

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/logtest"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql"
	"fiveways.dev/fiveways/internal/protocol/protocoltest"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// patience limits how long a test waits. The parser is slow under the race detector.
const patience = 2 * time.Minute

// node is a server in front of a broker.
type node struct {
	t    testing.TB
	b    *broker.Broker
	s    *Server
	addr string
	log  *logtest.Text

	pipes *protocol.Pipes // used instead of addr, in a bubble

	mu    sync.Mutex
	fakes []*fake // guarded by mu
}

// startNode starts a server with fake sessions.
func startNode(t testing.TB, o Options) *node {
	t.Helper()
	n := startRealNode(t, o)
	n.s.open = n.openFake
	return n
}

// bubbleNode is startNode in a bubble of testing/synctest, with in-memory connections.
func bubbleNode(t testing.TB, o Options) *node {
	t.Helper()
	ln := protocoltest.NewPipes()
	n := serve(t, o, ln)
	n.pipes = ln
	n.s.open = n.openFake
	return n
}

// openFake opens an engine session and a fake on top of it.
func (n *node) openFake(c *conn) (session, func(), error) {
	engine, err := n.s.engineSession(c)
	if err != nil {
		return nil, nil, err
	}
	f := &fake{
		c: c, waiting: make(chan struct{}, 1), status: 'I', statements: map[string]*sql.Prepared{}, portals: map[string]*sql.Portal{},
		running: map[*sql.Portal]*fakePortal{},
	}
	n.mu.Lock()
	n.fakes = append(n.fakes, f)
	n.mu.Unlock()
	return f, engine.Close, nil
}

// startRealNode starts a server with real sessions.
func startRealNode(t testing.TB, o Options) *node {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := serve(t, o, ln)
	n.addr = ln.Addr().String()
	return n
}

// serve starts a server on a listener.
func serve(t testing.TB, o Options, ln net.Listener) *node {
	t.Helper()
	n := &node{t: t, log: &logtest.Text{}}
	o.Log = slog.New(slog.NewTextHandler(n.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if o.LoginDelay == 0 {
		o.LoginDelay = -1
	}
	b := enginetest.Open(t, vfs.NewMem(), func(to *broker.Options) {
		*to = broker.Options{Logger: o.Log, Conditions: Conditions(), Order: OrderOf}
	})
	n.b, n.s = b, New(b, o)
	served := make(chan error, 1)
	go func() { served <- n.s.Serve(ln) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		n.s.Drain(ctx) //nolint:errcheck // connections that tests leave open are closed by force
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
		for i, f := range n.fakes {
			if f.closed != 1 {
				t.Errorf("session %d was closed %d times", i, f.closed)
			}
		}
		if len(n.s.conns.byPID) > 0 {
			t.Errorf("%d connections are still known", len(n.s.conns.byPID))
		}
		enginetest.Close(t, b)
	})
	return n
}

// lastFake returns the session of the last login.
func (n *node) lastFake() *fake {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.fakes[len(n.fakes)-1]
}

// client is a client that sends and receives single protocol messages.
type client struct {
	n   *node
	nc  net.Conn
	f   *pgproto3.Frontend
	pid uint32
	key []byte
}

func (n *node) dial() *client {
	n.t.Helper()
	nc, err := n.connection()
	if err != nil {
		n.t.Fatal(err)
	}
	nc.SetDeadline(time.Now().Add(patience)) //nolint:errcheck // a socket of ours
	n.t.Cleanup(func() { nc.Close() })
	return &client{n: n, nc: nc, f: pgproto3.NewFrontend(nc, nc)}
}

func (n *node) connection() (net.Conn, error) {
	if n.pipes != nil {
		return n.pipes.Dial(n.t.Context())
	}
	return net.DialTimeout("tcp", n.addr, patience)
}

// start sends a start-up packet; parameters alternates names and values.
func (c *client) start(version uint32, parameters ...string) *client {
	c.n.t.Helper()
	b := []byte{0, 0, 0, 0, byte(version >> 24), byte(version >> 16), byte(version >> 8), byte(version)}
	for _, p := range parameters {
		b = append(append(b, p...), 0)
	}
	b = append(b, 0)
	b[2], b[3] = byte(len(b)>>8), byte(len(b))
	c.write(b)
	return c
}

func (c *client) write(b []byte) {
	c.n.t.Helper()
	if _, err := c.nc.Write(b); err != nil {
		c.n.t.Fatal(err)
	}
}

// login logs in as guest and waits until the connection is ready for queries.
func (n *node) login(parameters ...string) *client {
	n.t.Helper()
	c := n.dial().start(protocol3, append([]string{"user", "guest", "database", "fiveways"}, parameters...)...)
	if got := c.until("Z"); !strings.HasSuffix(got, "Z I") {
		n.t.Fatalf("login: %s", got)
	}
	return c
}

// send sends messages in one write.
func (c *client) send(ms ...pgproto3.FrontendMessage) {
	c.n.t.Helper()
	for _, m := range ms {
		c.f.Send(m)
	}
	if err := c.f.Flush(); err != nil {
		c.n.t.Fatal(err)
	}
}

// next returns the next message as text, or "gone" at the end of the connection.
func (c *client) next() string {
	c.n.t.Helper()
	m, err := c.f.Receive()
	if err != nil {
		if ne, ok := err.(net.Error); ok && ne.Timeout() || os.IsTimeout(err) {
			c.n.t.Fatal("no answer")
		}
		return "gone"
	}
	switch m := m.(type) {
	case *pgproto3.AuthenticationOk:
		return "R ok"
	case *pgproto3.AuthenticationCleartextPassword:
		return "R clear"
	case *pgproto3.AuthenticationSASL:
		return "R sasl " + strings.Join(m.AuthMechanisms, " ")
	case *pgproto3.ParameterStatus:
		return "S " + m.Name + "=" + m.Value
	case *pgproto3.BackendKeyData:
		c.pid, c.key = m.ProcessID, slices.Clone(m.SecretKey)
		return "K"
	case *pgproto3.ReadyForQuery:
		return "Z " + string(m.TxStatus)
	case *pgproto3.ErrorResponse:
		text := "E " + fields(m.Severity, m.Code, m.Message, m.Detail, m.Hint, m.Position)
		if strings.HasPrefix(m.Where, "COPY") || strings.Contains(m.Where, "portal") {
			text += " in " + m.Where
		}
		return text
	case *pgproto3.CopyInResponse:
		return fmt.Sprint("G ", m.OverallFormat, " ", m.ColumnFormatCodes)
	case *pgproto3.CopyOutResponse:
		return fmt.Sprint("H ", m.OverallFormat, " ", m.ColumnFormatCodes)
	case *pgproto3.CopyData:
		return fmt.Sprintf("d %q", m.Data)
	case *pgproto3.CopyDone:
		return "c"
	case *pgproto3.NoticeResponse:
		return "N " + fields(m.Severity, m.Code, m.Message, m.Detail, m.Hint, m.Position)
	case *pgproto3.NegotiateProtocolVersion:
		return fmt.Sprint("v ", m.NewestMinorProtocol>>16, ".", m.NewestMinorProtocol&0xffff, " ", m.UnrecognizedOptions)
	case *pgproto3.RowDescription:
		text := "T"
		for _, f := range m.Fields {
			text += fmt.Sprintf(" %s:%d:%d", f.Name, f.DataTypeOID, f.Format)
			if f.TypeModifier != -1 {
				text += fmt.Sprintf("(%d)", f.TypeModifier)
			}
		}
		return text
	case *pgproto3.ParameterDescription:
		return fmt.Sprint("t ", m.ParameterOIDs)
	case *pgproto3.DataRow:
		text := "D"
		for _, v := range m.Values {
			text += fmt.Sprintf(" %q", v)
		}
		return text
	case *pgproto3.CommandComplete:
		return "C " + string(m.CommandTag)
	case *pgproto3.ParseComplete:
		return "1"
	case *pgproto3.BindComplete:
		return "2"
	case *pgproto3.CloseComplete:
		return "3"
	case *pgproto3.NoData:
		return "n"
	case *pgproto3.PortalSuspended:
		return "s"
	case *pgproto3.EmptyQueryResponse:
		return "I"
	}
	return fmt.Sprintf("%T", m)
}

func fields(severity, code, message, detail, hint string, position int32) string {
	text := severity + " " + code + " " + message
	for _, more := range []string{detail, hint} {
		if more != "" {
			text += " | " + more
		}
	}
	if position > 0 {
		text += fmt.Sprint(" @", position)
	}
	return text
}

// until reads up to the first message of a kind, or to the end of the connection, and returns all
// messages as text, joined by " / ".
func (c *client) until(kind string) string {
	c.n.t.Helper()
	var all []string
	for {
		m := c.next()
		all = append(all, m)
		if strings.HasPrefix(m, kind) || m == "gone" {
			return strings.Join(all, " / ")
		}
	}
}

// expect reads as many messages as want has and compares them.
func (c *client) expect(want string) {
	c.n.t.Helper()
	var got []string
	for range strings.Split(want, " / ") {
		got = append(got, c.next())
	}
	if all := strings.Join(got, " / "); all != want {
		c.n.t.Errorf("got  %s\nwant %s", all, want)
	}
}

// query sends a simple query and expects its answer.
func (c *client) query(text, want string) {
	c.n.t.Helper()
	c.send(&pgproto3.Query{String: text})
	c.expect(want)
}
