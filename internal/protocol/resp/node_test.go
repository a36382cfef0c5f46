package resp

import (
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/protocol/resp/resptest"
)

// node is a broker with this protocol in front.
type node struct {
	*resptest.Node
	srv *Server
}

// startNode starts a broker on in-memory files.
func startNode(t testing.TB, o Options) *node {
	t.Helper()
	return startNodeOn(t, o, broker.Options{DiskFreeLimit: -1})
}

// startNodeOn is like startNode, with options for the engine.
func startNodeOn(t testing.TB, o Options, engine broker.Options) *node {
	t.Helper()
	return startNodeBy(resptest.Start, t, o, engine)
}

// bubbleNode is like startNode, in a bubble of testing/synctest.
func bubbleNode(t testing.TB, o Options) *node {
	t.Helper()
	return startNodeBy(resptest.StartInBubble, t, o, broker.Options{DiskFreeLimit: -1})
}

type starter func(t testing.TB, engine broker.Options, serve func(*resptest.Node) resptest.Server) *resptest.Node

func startNodeBy(start starter, t testing.TB, o Options, engine broker.Options) *node {
	t.Helper()
	n := &node{}
	n.Node = start(t, engine, func(started *resptest.Node) resptest.Server {
		o.Semaphores, o.Log = started.Semaphores, started.Logger()
		if o.LoginDelay == 0 {
			o.LoginDelay = -1
		}
		n.srv = New(started.Broker, o)
		return n.srv
	})
	return n
}

// user creates a user with all permissions in "/".
func (n *node) user(name, password string) {
	n.T.Helper()
	if _, err := n.Broker.PutUser(catalog.UserSpec{Name: name, Password: password}); err != nil {
		n.T.Fatal(err)
	}
	if _, err := n.Broker.SetPermission(catalog.Permission{User: name, VHost: "/", Configure: ".*", Write: ".*", Read: ".*"}); err != nil {
		n.T.Fatal(err)
	}
}
