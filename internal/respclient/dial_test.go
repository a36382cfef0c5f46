package respclient

import (
	"net"
	"slices"
	"strings"
	"testing"
)

func TestSplit(t *testing.T) {
	for address, want := range map[string]string{
		"redis://h:1":                           "redis://h:1",
		"redis://":                              "redis://",
		"h,i":                                   "h,i",
		"redis://a:1,b:2,[::1]:3":               "redis://a:1 redis://b:2 redis://[::1]:3",
		"rediss://me:x,y@a,b/shop?protocol=2,3": "rediss://me:x,y@a/shop?protocol=2,3 rediss://me:x,y@b/shop?protocol=2,3",
		"unix:///run/a,b.sock":                  "unix:///run/a,b.sock",
	} {
		if got := strings.Join(slices.Collect(split(address)), " "); got != want {
			t.Errorf("%s: %s", address, got)
		}
	}
	for _, wrong := range []string{"redis://a:1,b:x", "http://a,b", "redis://a,b c"} {
		if _, err := Options(wrong); err == nil {
			t.Errorf("%s is taken", wrong)
		}
	}
}

// TestNodes: connections go to all nodes except those that do not answer.
func TestNodes(t *testing.T) {
	var nodes []string
	listeners := make([]net.Listener, 3)
	for i := range listeners {
		var err error
		if listeners[i], err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
		defer listeners[i].Close()
		nodes = append(nodes, listeners[i].Addr().String())
	}
	o, _, err := parse("redis://me:secret@" + strings.Join(nodes, ",") + "/shop")
	if err != nil || o.Username != "me" || o.Password != "secret" {
		t.Fatal(o, err)
	}
	reached := func() map[string]bool {
		at := map[string]bool{}
		for range 100 {
			nc, err := o.Dialer(t.Context(), o.Network, o.Addr)
			if err != nil {
				t.Fatal(err)
			}
			at[nc.RemoteAddr().String()] = true
			nc.Close()
		}
		return at
	}
	if at := reached(); len(at) != len(nodes) {
		t.Errorf("reached %v of %s", at, nodes)
	}
	listeners[1].Close()
	if at := reached(); len(at) != 2 || at[nodes[1]] {
		t.Errorf("reached %v, with %s down", at, nodes[1])
	}
	listeners[0].Close()
	listeners[2].Close()
	if _, err := o.Dialer(t.Context(), o.Network, o.Addr); err == nil {
		t.Error("no node is up")
	}
}
