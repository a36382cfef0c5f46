package protocol

import (
	"net"
	"testing"

	"fiveways.dev/fiveways/internal/core/message"
)

// part is a Part that records why it was ended.
type part struct{ reason string }

func (p *part) End(reason string) { p.reason = reason }

// channeled is a part with a channel.
type channeled struct{ part }

func (*channeled) Channels() []Channel { return []Channel{{Number: 7}} }

func TestClients(t *testing.T) {
	ours, theirs := net.Pipe()
	defer ours.Close()
	defer theirs.Close()
	cs := NewClients()
	plain, rich := &part{}, &channeled{}
	a := cs.Enter(ours, 2, "sql", plain)
	b := cs.Enter(theirs, 1, "amqp", rich)
	if all := cs.All(); len(all) != 2 || all[0] != b || all[1] != a {
		t.Errorf("connections %v", all)
	}
	if a.Name() != "pipe -> pipe" || a.TLS != nil || a.State() != StateStarting || a.Login() != nil || a.Channels() != nil || len(b.Channels()) != 1 {
		t.Errorf("%s, %v, %s, %v", a.Name(), a.TLS, a.State(), a.Channels())
	}
	a.LogIn(Login{User: "u", Properties: message.Table{{Name: "n", Value: "v"}}})
	if a.State() != StateRunning || a.Login().User != "u" {
		t.Errorf("%s, %+v", a.State(), a.Login())
	}
	a.SetState(StateBlocked)
	if a.State() != StateBlocked {
		t.Error(a.State())
	}
	b.ChannelOpened()
	b.ChannelOpened()
	b.ChannelClosed(&ChannelCounts{Acked: 3})
	a.End("because")
	if plain.reason != "because" || rich.reason != "" {
		t.Errorf("ended for %q and %q", plain.reason, rich.reason)
	}
	a.In.Add(10)
	b.Out.Add(5)
	a.Leave()
	a.Leave()
	if e := cs.Observe(); e.Gone().Acked != 3 || len(e.Connections) != 1 || e.Received != 10 || e.Sent != 5 || len(e.Channels) != 1 || e.Channels[0].ID.Number != 7 {
		t.Errorf("observed %+v", e)
	}
	if got := cs.Churn(); got != (Churn{2, 1, 2, 1}) {
		t.Errorf("churn %+v", got)
	}
	if all := cs.All(); len(all) != 1 || all[0] != b {
		t.Errorf("connections %v", all)
	}
	c := cs.Enter(ours, 3, "sql", plain)
	c.In.Add(1)
	if got := cs.Bytes(); got["sql"] != (BytesMoved{In: 11}) || got["amqp"] != (BytesMoved{Out: 5}) {
		t.Errorf("bytes %v", got)
	}
}

// TestNoClients checks that a connection has counters even without a registry.
func TestNoClients(t *testing.T) {
	ours, theirs := net.Pipe()
	defer ours.Close()
	defer theirs.Close()
	var none *Clients
	c := none.Enter(ours, 1, "amqp", &part{})
	c.In.Add(1)
	c.ChannelOpened()
	c.ChannelClosed(&ChannelCounts{})
	c.Leave()
	if none.All() != nil || len(none.Bytes()) != 0 || none.Churn() != (Churn{}) || ClientOf(ours) == nil {
		t.Error("no registry has connections")
	}
}
