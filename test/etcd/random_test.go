package etcd

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"fiveways.dev/fiveways/test/etcd/duel"
	"fiveways.dev/fiveways/test/seeded"
)

// The number of operations in a sequence, and the default number of sequences.
const sequenceOps, sequences = 500, 6

// TestRandom checks that random sequences of several clients have the same answers and events on
// both servers. ETCD_SEED and ETCD_TIMES select other and more sequences.
func TestRandom(t *testing.T) {
	d := both(t)
	seed, times := seeded.Number(t, "ETCD_SEED", 1), seeded.Number(t, "ETCD_TIMES", 1)
	for i := range sequences * times {
		g := &generator{rng: rand.New(rand.NewPCG(seed, i)), revision: d.Revision}
		if !d.Play(fmt.Sprintf("seed %d, sequence %d", seed, i), g.steps()) {
			return
		}
	}
}

// generator generates meaningful operations: it knows the revision of the store, and the leases and
// watches that may exist.
type generator struct {
	rng      *rand.Rand
	revision func() int // returns the revision of the store
}

// clients is the number of clients. Each has a watch stream too.
const clients = 4

func (g *generator) steps() iter.Seq[duel.Step] {
	return func(play func(duel.Step) bool) {
		for n := range sequenceOps {
			client := 1 + g.rng.IntN(clients)
			line := strings.Replace(g.line(), "w1 ", fmt.Sprintf("w%d ", client), 1)
			if n%100 == 99 || strings.HasPrefix(line, "KV.Compact") || strings.Contains(line, "cancel_request") { // pending watch events must not race with this
				if !play(duel.Step{Client: 1, Verb: "settle"}) {
					return
				}
			}
			s, err := duel.ParseStep(line)
			if err != nil {
				panic(err) // a bug of the generator
			}
			s.Client = client
			if !play(s) {
				return
			}
		}
	}
}

// one returns one of several texts, each equally likely.
func (g *generator) one(of ...string) string { return of[g.rng.IntN(len(of))] }

// maybe returns the text in one of n cases.
func (g *generator) maybe(n int, text string) string {
	if g.rng.IntN(n) == 0 {
		return text
	}
	return ""
}

func (g *generator) line() string {
	type kind struct {
		weight int
		make   func() string
	}
	kinds := []kind{
		{26, func() string { return "KV.Put " + g.put() }},
		{16, func() string { return "KV.Range " + g.read() }},
		{10, func() string { return "KV.DeleteRange " + g.remove() }},
		{18, func() string { return "KV.Txn " + g.alike(2) }},
		{2, func() string { return fmt.Sprintf("KV.Compact revision:%s %s", g.past(), g.maybe(2, "physical:true")) }},
		{4, func() string { return fmt.Sprintf("Lease.LeaseGrant TTL:%d ID:%s", 100+g.rng.IntN(1000), g.lease()) }},
		{2, func() string { return "Lease.LeaseRevoke ID:" + g.lease() }},
		{3, func() string { return "Lease.LeaseTimeToLive keys:true ID:" + g.lease() }},
		{1, func() string { return "Lease.LeaseLeases" }},
		{1, func() string { return "KeepAlive ID:" + g.lease() }},
		{3, g.watch},
		{1, func() string { return fmt.Sprintf("w1 cancel_request:{watch_id:%d}", g.rng.IntN(4)) }},
	}
	total := 0
	for _, k := range kinds {
		total += k.weight
	}
	n := g.rng.IntN(total)
	for _, k := range kinds {
		if n -= k.weight; n < 0 {
			return k.make()
		}
	}
	panic("unreachable")
}

func (g *generator) key() string {
	return g.one("a", "b", "c", "c/1", "c/2", "c/3", "d", "e")
}

func (g *generator) lease() string { return strconv.Itoa(1001 + g.rng.IntN(4)) }

// past returns a revision. It may be in the future, or compacted.
func (g *generator) past() string { return fmt.Sprintf("@%d", max(1, g.revision()+1-g.rng.IntN(12))) }

// span returns a key or a range of keys, and sometimes an empty one.
func (g *generator) span() string {
	switch g.rng.IntN(10) {
	case 0:
		return `key:"c/" range_end:"c0"`
	case 1:
		return `key:"a" range_end:"z"`
	case 2:
		return `key:"` + g.key() + `" range_end:"` + g.key() + `"`
	case 3:
		return `key:"` + g.key() + `" range_end:"\0"`
	}
	return `key:"` + g.key() + `"`
}

func (g *generator) put() string {
	s := `key:"` + g.maybe2(80, "", g.key()) + `"`
	value := fmt.Sprintf(` value:"%d"`, g.rng.IntN(5))
	switch g.rng.IntN(12) {
	case 0:
		value = " ignore_value:true"
	case 1:
		value = ""
	}
	lease := ""
	switch g.rng.IntN(8) {
	case 0, 1:
		lease = " lease:" + g.lease()
	case 2:
		lease = g.maybe(2, " ignore_lease:true")
	}
	return s + value + lease + g.maybe(3, " prev_kv:true")
}

// maybe2 returns one text in one of n cases, otherwise the other.
func (g *generator) maybe2(n int, text, other string) string {
	if g.rng.IntN(n) == 0 {
		return text
	}
	return other
}

func (g *generator) remove() string { return g.span() + g.maybe(3, " prev_kv:true") }

func (g *generator) read() string {
	order := g.maybe(3, " sort_target:"+g.one("KEY", "VERSION", "CREATE", "MOD")+" sort_order:"+g.one("NONE", "ASCEND", "DESCEND"))
	return g.span() + order + g.maybe(4, " revision:"+g.past()) + g.maybe(4, fmt.Sprintf(" limit:%d", g.rng.IntN(4))) + g.maybe(8, " count_only:true") +
		g.maybe(8, " keys_only:true") + g.maybe(8, " serializable:true") + g.maybe(10, " min_mod_revision:"+g.past()) +
		g.maybe(10, " max_mod_revision:"+g.past()) + g.maybe(10, " min_create_revision:"+g.past()) + g.maybe(10, " max_create_revision:"+g.past())
}

func (g *generator) compare() string {
	span := `key:"` + g.key() + `"`
	if g.rng.IntN(6) == 0 {
		span = g.span()
	}
	result := g.one("EQUAL", "GREATER", "LESS", "NOT_EQUAL")
	switch g.rng.IntN(5) {
	case 0:
		return fmt.Sprintf("compare:{%s target:VERSION result:%s version:%d}", span, result, g.rng.IntN(4))
	case 1:
		return fmt.Sprintf("compare:{%s target:CREATE result:%s create_revision:%s}", span, result, g.past())
	case 2:
		return fmt.Sprintf("compare:{%s target:MOD result:%s mod_revision:%s}", span, result, g.past())
	case 3:
		return fmt.Sprintf("compare:{%s target:LEASE result:%s lease:%s}", span, result, g.one("0", g.lease()))
	}
	return fmt.Sprintf(`compare:{%s target:VALUE result:%s value:"%d"}`, span, result, g.rng.IntN(5))
}

// deletesTail matches a delete of all keys from a given key on.
var deletesTail = regexp.MustCompile(`request_delete_range:\{[^}]*range_end:"\\0"`)

// alike returns a transaction that all servers answer alike. It avoids two kinds: a transaction
// that deletes all keys from one on and puts one of them with its old value crashes etcd for good,
// and the broker refuses it. For a transaction with an invalid read and an invalid put, etcd 3.4
// reports the put, and etcd since 3.6, whose code the broker uses, reports the first of them.
func (g *generator) alike(depth int) string {
	for {
		t := g.txn(depth)
		ignores, refusable := strings.Contains(t, "ignore_"), strings.Contains(t, " lease:") || strings.Contains(t, "ignore_")
		if !(ignores && deletesTail.MatchString(t)) && !(refusable && strings.Contains(t, " revision:")) {
			return t
		}
	}
}

// txn returns a transaction with nested ones up to this depth.
func (g *generator) txn(depth int) string {
	var parts []string
	for range g.rng.IntN(3) {
		parts = append(parts, g.compare())
	}
	for _, branch := range []string{"success", "failure"} {
		for range g.rng.IntN(4) {
			parts = append(parts, branch+":{"+g.operation(depth)+"}")
		}
	}
	return strings.Join(parts, " ")
}

func (g *generator) operation(depth int) string {
	switch n := g.rng.IntN(10); {
	case n < 4:
		return "request_put:{" + g.put() + "}"
	case n < 6:
		return "request_range:{" + g.read() + "}"
	case n < 8 || depth == 0:
		return "request_delete_range:{" + g.remove() + "}"
	}
	return "request_txn:{" + g.txn(depth-1) + "}"
}

func (g *generator) watch() string {
	return "w1 create_request:{" + g.span() + g.maybe(2, " prev_kv:true") + g.maybe(3, " start_revision:"+g.past()) + g.maybe(8, " filters:NOPUT") +
		g.maybe(8, " filters:NODELETE") + g.maybe(8, " fragment:true") + "}"
}
