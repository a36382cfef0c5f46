package broker

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

func TestHistoryIsShownToNewQueues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs := vfs.NewMem()
		b := openBroker(t, fs, threeShards)
		c := newClient(t, b)
		spec := ExchangeSpec{
			Name: "chat", Type: "x-recent-history", Durable: true, Args: message.Table{{Name: "x-recent-history-length", Value: int32(3)}},
		}
		must(t, c.DeclareExchange(spec))
		c.queue("q0", nil)
		c.bind("chat", "q0", "any key")
		c.send("chat", "k", "hidden", header("x-recent-history-no-store", true))
		for i := range 5 {
			c.send("chat", "k", fmt.Sprint(i), header("x-recent-history-no-store", false))
		}
		c.queue("q1", nil)
		c.bind("chat", "q1", "")
		c.bind("chat", "q1", "") // exists already: nothing new arrives
		sameStrings(t, c.drain("q0"), "hidden", "0", "1", "2", "3", "4")
		sameStrings(t, c.drain("q1"), "2", "3", "4")

		must(t, c.DeclareExchange(ExchangeSpec{Name: "behind", Type: "direct", Durable: true}))
		c.queue("q2", nil)
		c.bind("behind", "q2", "k")
		must(t, c.Bind(BindSpec{Source: "chat", Destination: "behind", ToExchange: true}))
		synctest.Wait()
		sameStrings(t, c.drain("q2"), "2", "3", "4")
		syncAll(t, b)
		c.Close()
		mustClose(t, b)

		b = openBroker(t, fs, threeShards)
		defer mustClose(t, b)
		c = newClient(t, b)
		defer c.Close()
		c.queue("q3", nil)
		c.bind("chat", "q3", "")
		c.send("chat", "k", "5", message.Properties{})
		sameStrings(t, c.drain("q3"), "2", "3", "4", "5")
	})
}

func TestHistoryLength(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer mustClose(t, b)
	c := newClient(t, b)
	defer c.Close()
	for _, bad := range []any{int32(0), int32(-1), "5", nil} {
		err := c.DeclareExchange(ExchangeSpec{
			Name: "bad", Type: "x-recent-history", Args: message.Table{{Name: "x-recent-history-length", Value: bad}},
		})
		if !errors.Is(err, ErrInvalidBinding) {
			t.Errorf("length %v: %v", bad, err)
		}
	}
	must(t, c.DeclareExchange(ExchangeSpec{Name: "usual", Type: "x-recent-history"}))
	for i := range 30 {
		c.send("usual", "", fmt.Sprint(i), message.Properties{})
	}
	c.queue("q", nil)
	c.bind("usual", "q", "")
	if got := c.drain("q"); len(got) != 20 || got[0] != "10" {
		t.Errorf("got %q", got)
	}
}
