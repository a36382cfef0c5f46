package duel

import (
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"fiveways.dev/fiveways/test/redisd"
)

// Options define what is compared, and how.
type Options struct {
	RESP3    bool            // each connection begins with HELLO 3
	Redis    []string        // settings of Redis
	Marked   bool            // a PING after each step ends its replies: there may be any number of them, and none while it blocks
	Language func() Language // returns a server's Language for a sequence; nil: none
}

// Language translates commands for a server and its replies, where both servers are right but
// differ.
type Language interface {
	Word(written string) string                // returns what to send for a word of a step
	Replies(s Step, replies []string) []string // returns what to compare of the replies to a step on one connection
}

// plain is the Language without translations.
type plain struct{}

func (plain) Word(written string) string { return written }

func (plain) Replies(_ Step, replies []string) []string { return replies }

// Duel is the two servers: Redis, and the broker with files in memory.
type Duel struct {
	t     testing.TB
	o     Options
	peers [2]*peer
}

// New starts both servers. They end with the test.
func New(t testing.TB, o Options) *Duel {
	t.Helper()
	if o.Language == nil {
		o.Language = func() Language { return plain{} }
	}
	d := &Duel{t: t, o: o}
	for i, name := range []string{"Redis", "Fiveways"} {
		d.peers[i] = &peer{t: t, name: name, resp3: o.RESP3, conns: map[string]*conn{}}
	}
	d.peers[0].addr = redisd.Start(t, redisd.Options{Settings: o.Redis})
	d.peers[1].addr = Broker(t, nil)
	t.Cleanup(func() {
		for _, p := range d.peers {
			for _, c := range p.conns {
				c.hangUp()
			}
			if p.watch != nil {
				p.watch.hangUp()
			}
		}
	})
	return d
}

// Play runs a sequence on both servers and reports the first difference. It leaves no data behind.
func (d *Duel) Play(name string, steps iter.Seq[Step]) (same bool) {
	d.t.Helper()
	for _, p := range d.peers {
		p.language = d.o.Language()
	}
	defer func() {
		for _, p := range d.peers {
			p.clean()
		}
	}()
	var before strings.Builder
	for s := range steps {
		fmt.Fprintf(&before, "  %s\n", s)
		got := d.step(s)
		if diff := difference(got[0], got[1]); diff != "" {
			d.t.Errorf("%s: replies to the last of\n%sdiffer:\n%s", name, before.String(), diff)
			return false
		}
	}
	return true
}

// step runs a step on both servers and returns their replies by connection.
func (d *Duel) step(s Step) (got [2]map[string][]string) {
	d.t.Helper()
	if d.o.Marked {
		for i, p := range d.peers {
			got[i] = map[string][]string{s.Conn: p.say(s)}
		}
	} else {
		for _, p := range d.peers {
			p.begin(s)
		}
		unanswered := math.MaxInt
		if s.Expires {
			unanswered = 0
		}
		got[0] = d.peers[0].settle(unanswered)
		if s.Expires && d.peers[0].silent > 0 {
			d.t.Fatalf("%s: Redis does not answer", s)
		}
		got[1] = d.peers[1].settle(d.peers[0].silent)
	}
	for i, p := range d.peers {
		for _, conn := range slices.Sorted(maps.Keys(got[i])) {
			replies := p.language.Replies(s, got[i][conn])
			if s.Sorted && conn == s.Conn {
				for k := range replies {
					replies[k] = inOrder(replies[k])
				}
			}
			got[i][conn] = replies
		}
	}
	return got
}

// difference describes the first connection whose replies differ.
func difference(redis, ours map[string][]string) string {
	both := maps.Clone(redis)
	maps.Copy(both, ours)
	for _, name := range slices.Sorted(maps.Keys(both)) {
		if !slices.Equal(redis[name], ours[name]) {
			return fmt.Sprintf("connection %s\n  Redis:    %s\n  Fiveways: %s", name, strings.Join(redis[name], "\n    "), strings.Join(ours[name], "\n    "))
		}
	}
	return ""
}
