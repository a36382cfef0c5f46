package duel

import (
	"context"
	"slices"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"

	"fiveways.dev/fiveways/test/etcdd"
)

func TestSteps(t *testing.T) {
	for line, good := range map[string]bool{
		`KV.Put key:"a" value:"1"`: true, `2> KV.Range key:"a" revision:@-3`: true, `w1 create_request:{key:"a"}`: true, `w1 end`: true, `await 0 key:"a"`: true,
		`go 3> Lock.Lock name:"l" lease:7`: true, `token`: true, `settle`: true, `KV.Nothing`: false, `KV.Put nothing:1`: false, `Watch.Watch`: false,
		`go w1 create_request:{}`: false, `x`: false,
	} {
		s, err := ParseStep(line)
		if (err == nil) != good {
			t.Errorf("%s: %v", line, err)
		}
		if good && s.String() != line {
			t.Errorf("%s became %s", line, s)
		}
	}
}

func TestTextLeavesOutWhatIsFree(t *testing.T) {
	m := &pb.RangeResponse{
		Header: &pb.ResponseHeader{ClusterId: 1, MemberId: 2, RaftTerm: 3, Revision: 14},
		Kvs:    []*mvccpb.KeyValue{{Key: []byte("a"), ModRevision: 12, CreateRevision: 11, Version: 2, Value: []byte{0, 'x'}, Lease: 5}}, Count: 1,
	}
	const want = `{header:{revision:@4} kvs:[{key:"a" create_revision:@1 mod_revision:@2 version:2 value:"\x00x" lease:5}] count:1}`
	if got := Text(m, 10); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// quiet is a testing.TB whose errors do not fail the surrounding test.
type quiet struct{ testing.TB }

func (quiet) Errorf(string, ...any) {}

// TestDifferences checks that different answers and different events are found.
func TestDifferences(t *testing.T) {
	addr := etcdd.Start(t)
	d := New(quiet{t}, [2]*Peer{NewPeer("a", addr), NewPeer("b", etcdd.Start(t))})
	other, err := NewPeer("behind", addr).client(1)
	if err != nil {
		t.Fatal(err)
	}
	defer other.conn.Close()
	secretly := func(key string) {
		if _, err := pb.NewKVClient(other.conn).Put(context.Background(), &pb.PutRequest{Key: []byte(key)}); err != nil {
			t.Error(err)
		}
	}
	play := func(meddle func(), lines ...string) bool {
		return d.Play("", func(yield func(Step) bool) {
			for n, line := range lines {
				if n == len(lines)-1 {
					meddle()
				}
				s, err := ParseStep(line)
				if err != nil {
					t.Fatal(err)
				}
				if !yield(s) {
					return
				}
			}
		})
	}
	if !play(func() {}, `KV.Put key:"a" value:"1"`, `KV.Range key:"a"`) {
		t.Error("two etcds differ")
	}
	if play(func() { secretly("a") }, `KV.Put key:"a" value:"1"`, `KV.Range key:"a"`) {
		t.Error("another answer was not found")
	}
	if play(func() { secretly("a") }, `w1 create_request:{key:"a"}`, `settle`) {
		t.Error("another event was not found")
	}
}

func TestNewerAnswersAreRight(t *testing.T) {
	s := Step{Verb: "KV.Put", Newer: "new"}
	for answers, same := range map[[2]string]bool{{"a", "a"}: true, {"a", "new"}: true, {"new", "a"}: false, {"a", "b"}: false} {
		if alike(s, answers) != same {
			t.Errorf("%q alike: %t", answers, !same)
		}
	}
	if users := withoutOwn([]string{"a", "guest", "b"}); !slices.Equal(users, []string{"a", "b"}) {
		t.Errorf("users %q", users)
	}
}
