package duel

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
)

// patience is the timeout of one answer.
const patience = 20 * time.Second

// Peer is one of the two servers.
type Peer struct {
	Name    string
	addr    string
	base    int64 // the revision at which the script began
	told    int64 // the revision of the last answer
	clients map[int]*client
	streams map[string]*stream
}

// client is one connection.
type client struct {
	conn    *grpc.ClientConn
	token   string
	waiting chan string // the answer to its request in the background; nil: there is none
}

// NewPeer returns the server at host:port.
func NewPeer(name, addr string) *Peer {
	return &Peer{Name: name, addr: addr, clients: map[int]*client{}, streams: map[string]*stream{}}
}

// client returns the nth client.
func (p *Peer) client(n int) (*client, error) {
	if c := p.clients[n]; c != nil {
		return c, nil
	}
	conn, err := grpc.NewClient(p.addr, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDisableRetry())
	if err != nil {
		return nil, err
	}
	c := &client{conn: conn}
	p.clients[n] = c
	return c, nil
}

// context returns the context of a request by the client.
func (c *client) context() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	if c.token != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "token", c.token)
	}
	return ctx, cancel
}

// play runs a step and returns its result.
func (p *Peer) play(s Step) string {
	c, err := p.client(s.Client)
	if err != nil {
		return err.Error()
	}
	switch {
	case s.Verb == "settle": // Play handles it
		return ""
	case s.Verb == "token":
		c.token = s.Rest
		return ""
	case s.Verb == "answer":
		return p.answer(s)
	case s.isStream():
		return p.onStream(c, s)
	}
	request, err := s.request(p.base)
	if err != nil {
		return err.Error()
	}
	switch s.Verb {
	case "KeepAlive":
		return p.keepAlive(c, request)
	case "login":
		return c.login(request, p.base)
	case "await":
		return c.await(s, request)
	}
	if !s.Background {
		answer, at := p.ask(c, s, request)
		p.told = max(p.told, at)
		return answer
	}
	answered := make(chan string, 1)
	c.waiting = answered
	go func() {
		answer, _ := p.ask(c, s, request)
		answered <- answer
	}()
	return ""
}

// ask calls a unary method. It also returns the revision in the answer's header.
func (p *Peer) ask(c *client, s Step, request proto.Message) (answer string, at int64) {
	method, err := s.method()
	if err != nil {
		return err.Error(), 0
	}
	reply, err := newMessage(method.Output().FullName())
	if err != nil {
		return err.Error(), 0
	}
	ctx, cancel := c.context()
	defer cancel()
	if err := c.conn.Invoke(ctx, fmt.Sprintf("/%s/%s", method.Parent().FullName(), method.Name()), request, reply); err != nil {
		return refusal(err), 0
	}
	if r, ok := reply.(interface{ GetHeader() *pb.ResponseHeader }); ok {
		at = r.GetHeader().GetRevision()
	}
	forget(request, reply)
	return Text(reply, p.base), at
}

// refusal formats an error as a client sees it.
func refusal(err error) string {
	s := status.Convert(err)
	return fmt.Sprintf("error %s: %s", s.Code(), s.Message())
}

// forget removes what two correct servers choose differently.
func forget(request, reply proto.Message) {
	switch reply := reply.(type) {
	case *pb.LeaseGrantResponse:
		if request.(*pb.LeaseGrantRequest).ID == 0 && reply.ID > 0 {
			reply.ID = 1
		}
	case *pb.AuthUserListResponse:
		reply.Users = withoutOwn(reply.Users)
	}
}

func (p *Peer) answer(s Step) string {
	n := 0
	fmt.Sscan(s.Rest, &n) //nolint:errcheck // otherwise it is client 0, which has no such request
	c := p.clients[n]
	if c == nil || c.waiting == nil {
		return "nothing was asked"
	}
	defer func() { c.waiting = nil }()
	return <-c.waiting
}

func (p *Peer) keepAlive(c *client, request proto.Message) string {
	ctx, cancel := c.context()
	defer cancel()
	stream, err := pb.NewLeaseClient(c.conn).LeaseKeepAlive(ctx)
	if err != nil {
		return refusal(err)
	}
	if err := stream.Send(request.(*pb.LeaseKeepAliveRequest)); err != nil {
		return refusal(err)
	}
	reply, err := stream.Recv()
	if err != nil {
		return refusal(err)
	}
	return Text(reply, p.base)
}

func (c *client) login(request proto.Message, base int64) string {
	ctx, cancel := context.WithTimeout(context.Background(), patience) // without its previous token
	defer cancel()
	reply, err := pb.NewAuthClient(c.conn).Authenticate(ctx, request.(*pb.AuthenticateRequest))
	if err != nil {
		return refusal(err)
	}
	if reply.Token == "" {
		return "no token"
	}
	c.token = reply.Token
	return Text(reply, base)
}

// await repeats a request until a range has the expected number of keys.
func (c *client) await(s Step, request proto.Message) string {
	var want int64
	fmt.Sscan(s.Rest, &want) //nolint:errcheck // otherwise it is 0
	ask := request.(*pb.RangeRequest)
	ask.CountOnly = true
	ctx, cancel := c.context()
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		reply, err := pb.NewKVClient(c.conn).Range(ctx, ask)
		switch {
		case err != nil:
			return refusal(err)
		case reply.Count == want:
			return ""
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Sprintf("there are %d keys, not %d", reply.Count, want)
		}
	}
}

// Close closes all connections.
func (p *Peer) Close() {
	for name := range p.streams {
		p.end(name)
	}
	for n, c := range p.clients {
		c.conn.Close() //nolint:errcheck // it is no longer needed
		delete(p.clients, n)
	}
}
