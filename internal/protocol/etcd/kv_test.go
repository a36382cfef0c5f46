package etcd

import (
	"testing"
)

func TestPutAndGet(t *testing.T) {
	n := newNode(t, Options{})
	c := dial(t, n.addr)
	put, err := c.Put(t.Context(), "a", "1")
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Get(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Kvs) != 1 || string(got.Kvs[0].Value) != "1" || got.Kvs[0].ModRevision != put.Header.Revision || put.Header.Revision != 2 {
		t.Errorf("put %v, got %v", put, got)
	}
	if h := got.Header; h.ClusterId == 0 || h.MemberId == 0 || h.RaftTerm == 0 {
		t.Errorf("header %v", h)
	}
}
