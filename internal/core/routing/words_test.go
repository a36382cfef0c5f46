package routing

import (
	"maps"
	"math/rand/v2"
	"testing"
)

func TestWordTrie(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	// Half of the hashes differ only in their highest bits, so that the trie is deep.
	hash := func() uint64 {
		if rng.IntN(2) == 0 {
			return uint64(rng.IntN(16)) << 60
		}
		return uint64(rng.IntN(300))
	}
	var trie, before wordTrie
	want, wantBefore := map[uint64]*wordNode{}, map[uint64]*wordNode{}
	check := func(trie *wordTrie, want map[uint64]*wordNode) {
		t.Helper()
		for _, h := range append([]uint64{0, 299, 15 << 60}, hash(), hash(), hash()) {
			if got := trie.get(h); got != want[h] {
				t.Fatalf("%x: %p, want %p", h, got, want[h])
			}
		}
	}
	for i := range 20_000 {
		if i%1000 == 0 {
			before, wantBefore = trie, maps.Clone(want)
		}
		h := hash()
		if adds := i%4000 < 2500; adds == (rng.IntN(4) > 0) {
			chain := &wordNode{word: "w"}
			trie, want[h] = trie.with(h, 0, chain), chain
		} else {
			trie = trie.with(h, 0, nil)
			delete(want, h)
		}
		check(&trie, want)
		check(&before, wantBefore) // no change reaches an older version
	}
	for h := range want {
		if trie.get(h) != want[h] {
			t.Errorf("%x is missing", h)
		}
		trie = trie.with(h, 0, nil)
	}
	if !trie.empty() {
		t.Error("the trie is not empty after everything was removed")
	}
}

// TestWordsWithOneHash checks that words with the same hash share a chain, in which each can be
// found, replaced and removed.
func TestWordsWithOneHash(t *testing.T) {
	one, two, three := &destinations{}, &destinations{}, &destinations{}
	node := func(set *destinations) *topicNode { return &topicNode{set: set} }
	found := func(chain *wordNode, word string) *destinations {
		if n := chain.find(word); n != nil {
			return n.set
		}
		return nil
	}
	chain := (*wordNode)(nil).with("a", node(one)).with("b", node(two))
	older := chain
	chain = chain.with("a", node(three)).with("c", node(one))
	for word, want := range map[string]*destinations{"a": three, "b": two, "c": one, "d": nil} {
		if got := found(chain, word); got != want {
			t.Errorf("%s: %p, want %p", word, got, want)
		}
	}
	chain = chain.with("b", nil).with("d", nil)
	if found(chain, "b") != nil || found(chain, "a") != three || found(chain, "c") != one {
		t.Error("removing one word disturbed the others")
	}
	if found(older, "a") != one || found(older, "b") != two || found(older, "c") != nil {
		t.Error("an older chain changed")
	}
	if chain.with("a", nil).with("c", nil) != nil {
		t.Error("an empty chain is not nil")
	}
}
