package overview

import (
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/lists"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/httpapi/resttest"
	"fiveways.dev/fiveways/internal/shovel/dynamic"
)

// matters returns what a user is shown, each as "severity kind vhost/name".
func (n *node) matters(user string) (short []string, texts string) {
	n.t.Helper()
	status, body := n.ask("GET", "/api/attention", user)
	var out Attention
	if err := json.Unmarshal([]byte(body), &out); err != nil || status != 200 || out.Matters == nil {
		n.t.Fatalf("%d %s %v", status, body, err)
	}
	for _, m := range out.Matters {
		short = append(short, fmt.Sprintf("%s %s %s%s", m.Severity, m.Kind, m.VHost, m.Name))
		texts += m.Text + "\n"
	}
	return short, texts
}

func (n *node) push(s *broker.Session, queue string, count int) {
	n.t.Helper()
	if err := s.Do(&lists.Push{OnQueue: broker.OnQueue{Queue: queue}, Bodies: slices.Repeat([][]byte{[]byte("m")}, count)}); err != nil {
		n.t.Fatal(err)
	}
}

// Nothing needs attention while all is well. What has stopped is shown to users who may see it.
func TestAttention(t *testing.T) {
	n := open(t)
	n.addUser("watcher", "", "monitoring")
	n.addUser("clerk", "", "management")
	s := resttest.Operate(t, n.b)
	for _, name := range []string{"slow", "left", "dead", "fine"} {
		resttest.Declare(t, s, name)
	}
	resttest.Declare(t, s, "orders", func(q *catalog.QueueSpec) {
		q.Policy.DeadLetter, q.Policy.HasDeadLetterKey, q.Policy.DeadLetterKey = true, true, "dead"
	})
	client, _ := n.connect(4001, "clerk")
	n.use(client.Name())
	if short, _ := n.matters("watcher"); len(short) > 0 {
		t.Errorf("when all is well: %v", short)
	}

	n.push(s, "left", 2)
	n.push(s, "dead", 7)
	n.push(s, "orders", 1)
	for range 14 {
		n.o.Monitor.Sample()
		n.later += 5 * time.Second
		n.push(s, "slow", 20)
	}
	n.shovels = []dynamic.Status{{VHost: "/", Name: "to-oslo", State: dynamic.Terminated, Reason: "no route to host"}, {VHost: "/", Name: "well", State: dynamic.Running}}
	n.cert = &x509.Certificate{NotAfter: time.Now().Add(50 * time.Hour)}
	client.SetState(protocol.StateFlow)
	for range fewFailures {
		n.a.Logins.Password(nil, protocol.Attempt{Protocol: "amqp091", User: "mallory", Peer: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 9)}}, "guess") //nolint:errcheck // it fails
	}
	short, texts := n.matters("watcher")
	want := []string{
		"warning certificate ", "warning login mallory", "warning connection ", "warning shovel /to-oslo", "warning growing /slow", "warning no_consumer /slow",
		"warning no_consumer /left", "warning no_consumer /orders", "warning dead_letters /dead",
	}
	if !slices.Equal(short, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(short, "\n"), strings.Join(want, "\n"))
	}
	for _, text := range []string{
		"The TLS certificate expires in 2 days.", "3 logins failed from 192.0.2.9", "1 connection slowed down", "does not run: no route to host", "It grows by 240 messages a minute, and has 260.",
		"2 ready messages, and no consumer.", "7 dead letters, and no consumer.",
	} {
		if !strings.Contains(texts, text) {
			t.Errorf("without %q:\n%s", text, texts)
		}
	}
	if short, _ := n.matters("clerk"); !slices.Equal(short, []string{"warning connection "}) {
		t.Errorf("one who may see no virtual host is told of %v", short)
	}
}

// Of many queues only the fullest are listed, with the number of the others.
func TestAttentionIsShort(t *testing.T) {
	n := open(t)
	s := resttest.Operate(t, n.b)
	for i := range 30 {
		name := fmt.Sprintf("q%02d", i)
		resttest.Declare(t, s, name)
		n.push(s, name, 1+i)
	}
	for range 14 {
		n.o.Monitor.Sample()
		n.later += 5 * time.Second
	}
	short, texts := n.matters("guest")
	if len(short) != mostOfAKind+1 || short[0] != "warning no_consumer /q29" || !strings.HasSuffix(texts, "20 more queues have messages and no consumer.\n") {
		t.Errorf("%v\n%s", short, texts)
	}
}

// Matters that block publishers come first.
func TestAttentionToAlarms(t *testing.T) {
	n := open(t)
	n.o.Monitor.Sample()
	m := (&api{n.a, n.o, nil}).alarmMatter(&broker.Alarm{Reason: broker.LowOnDisk})
	if m.Severity != critical || !strings.Contains(m.Text, "are free on the disk, the limit is") {
		t.Errorf("%+v", m)
	}
	m = (&api{n.a, n.o, nil}).alarmMatter(&broker.Alarm{Reason: broker.LowOnDisk, Nodes: []string{"n2", "n3"}})
	if !strings.Contains(m.Text, "n2, n3 have less free disk space") {
		t.Errorf("%+v", m)
	}
	if m := forecast("disk", 30*time.Minute, "x"); m.Severity != critical {
		t.Errorf("%+v", m)
	}
	for d, want := range map[time.Duration]string{0: "0 seconds", time.Second: "1 second", 90 * time.Minute: "1 hour", 49 * time.Hour: "2 days"} {
		if got := span(d); got != want {
			t.Errorf("%v is %s, want %s", d, got, want)
		}
	}
	for b, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1536: "1.5 KiB", 50 << 20: "50.0 MiB"} {
		if got := size(b); got != want {
			t.Errorf("%d is %s, want %s", b, got, want)
		}
	}
	if got := thousands(1234567); got != "1,234,567" {
		t.Error(got)
	}
}
