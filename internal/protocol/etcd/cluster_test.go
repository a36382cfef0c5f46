package etcd

import (
	"errors"
	"fmt"
	"net"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	etcderrors "go.etcd.io/etcd/server/v3/etcdserver/errors"

	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/protocoltest"
	"fiveways.dev/fiveways/internal/replica"
)

// passing is a listener to which another member forwards accepted connections.
type passing struct{ net.Listener }

func (l passing) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	return passedOn{nc}, err
}

type passedOn struct{ net.Conn }

func (passedOn) Node() uint64 { return 2 }

// three returns the first member of three, with a client of it and a client of the second member.
func three(t *testing.T) (c *protocoltest.Cluster, first, second *clientv3.Client) {
	t.Helper()
	c = protocoltest.ThreeNodes()
	n := newNode(t, Options{Shared: protocol.Shared{Cluster: c}})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- n.Serve(passing{ln}) }()
	t.Cleanup(func() {
		ln.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return c, dial(t, n.addr), dial(t, ln.Addr().String())
}

// TestMembers checks that all members are listed, each with its own address, and the one that the
// client has connected to with the address that the client used.
func TestMembers(t *testing.T) {
	_, first, second := three(t)
	for _, c := range []*clientv3.Client{first, second} {
		list, err := c.MemberList(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		at := [2]string{"http://n1:2379", "http://n2:2379"}
		if c == first {
			at[0] = "http://" + c.Endpoints()[0]
		} else {
			at[1] = "http://" + c.Endpoints()[0]
		}
		got := ""
		for _, m := range list.Members {
			got += fmt.Sprintln(m.ID, m.Name, m.PeerURLs, m.ClientURLs, m.IsLearner)
		}
		want := fmt.Sprintf("1 n1 [https://n1:5680] [%s] false\n2 n2 [https://n2:5680] [%s] false\n3 fiveways-3 [https://n3:5680] [] false\n", at[0], at[1])
		if got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
		if list.Header.RaftTerm != 7 || list.Header.MemberId != 1 || list.Header.ClusterId == 0 {
			t.Errorf("header %v", list.Header)
		}
	}
}

// TestMemberStatus checks that a client gets the status of the member that it has connected to.
func TestMemberStatus(t *testing.T) {
	cluster, first, second := three(t)
	put, err := first.Put(t.Context(), "a", "1")
	if err != nil {
		t.Fatal(err)
	}
	if h := put.Header; h.MemberId != 1 || h.RaftTerm != 7 {
		t.Errorf("header of a put: %v", h)
	}
	for c, want := range map[*clientv3.Client]string{first: "1 1 7 99 97 false", second: "2 1 7 97 97 false"} {
		s, err := c.Status(t.Context(), c.Endpoints()[0])
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(s.Header.MemberId, s.Leader, s.RaftTerm, s.RaftIndex, s.RaftAppliedIndex, s.IsLearner); got != want || s.DbSize == 0 {
			t.Errorf("%s, want %s: %v", got, want, s)
		}
	}
	cluster.Now.Members[1].Role = protocol.RoleLearner
	if s, err := second.Status(t.Context(), second.Endpoints()[0]); err != nil || !s.IsLearner {
		t.Errorf("a learner: %v, %v", s, err)
	}
}

// TestMemberChanges checks membership changes of a cluster, and the errors of unsupported ones.
func TestMemberChanges(t *testing.T) {
	cluster, c, _ := three(t)
	remove := func(id uint64) func() error {
		return func() error { _, err := c.MemberRemove(t.Context(), id); return err }
	}
	promote := func(id uint64) func() error {
		return func() error { _, err := c.MemberPromote(t.Context(), id); return err }
	}
	move := func(id uint64) func() error {
		return func() error { _, err := c.MoveLeader(t.Context(), id); return err }
	}
	refusing := func(err error, do func() error) func() error {
		return func() error {
			cluster.Refusal = err
			defer func() { cluster.Refusal = nil }()
			return do()
		}
	}
	for _, tc := range []struct {
		name string
		do   func() error
		want error
	}{
		{"move to itself", move(1), nil},
		{"move", move(2), nil},
		{"move to one that is down", move(3), etcderrors.ErrTimeoutLeaderTransfer},
		{"move to one that lags", refusing(errors.New("it lags"), move(2)), etcderrors.ErrTimeoutLeaderTransfer},
		{"move to a stranger", move(4), rpctypes.ErrGRPCBadLeaderTransferee},
		{"remove a stranger", remove(4), rpctypes.ErrGRPCMemberNotFound},
		{"remove one of three", refusing(replica.ErrTooFew, remove(3)), rpctypes.ErrGRPCMemberNotEnoughStarted},
		{"remove one of the few that are up", refusing(replica.ErrNoMajority, remove(3)), rpctypes.ErrGRPCMemberNotEnoughStarted},
		{"remove meanwhile", refusing(fmt.Errorf("x: %w", replica.ErrBusy), remove(3)), rpctypes.ErrGRPCUnhealthy},
		{"remove", remove(3), nil},
		{"add", func() error { _, err := c.MemberAdd(t.Context(), []string{"http://127.0.0.1:1"}); return err }, errByToken},
		{"update", func() error { _, err := c.MemberUpdate(t.Context(), 2, []string{"http://127.0.0.1:1"}); return err }, errByToken},
		{"promote a voter", promote(2), rpctypes.ErrGRPCMemberNotLearner},
		{"promote a learner", func() error {
			cluster.Now.Members[2].Role = protocol.RoleLearner
			return promote(3)()
		}, rpctypes.ErrGRPCLearnerNotReady},
		{"move to a learner", move(3), rpctypes.ErrGRPCBadLeaderTransferee},
	} {
		if err := tc.do(); rpctypes.ErrorDesc(rpctypes.Error(err)) != rpctypes.ErrorDesc(rpctypes.Error(tc.want)) {
			t.Errorf("%s: %v, want %v", tc.name, err, tc.want)
		}
	}
	if got := fmt.Sprint(cluster.Asked, cluster.Removed); got != "[2] [3]" {
		t.Errorf("asked to lead, and removed: %s", got)
	}
}
