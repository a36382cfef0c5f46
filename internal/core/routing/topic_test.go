package routing

import "testing"

// TestWordsWithOneHash checks that words with the same hash share a chain, in which each can be
// found, replaced and removed.
func TestWordsWithOneHash(t *testing.T) {
	one, two, three := &topicNode{}, &topicNode{}, &topicNode{}
	chain := (*wordNode)(nil).with("a", one).with("b", two)
	older := chain
	chain = chain.with("a", three).with("c", one)
	for word, want := range map[string]*topicNode{"a": three, "b": two, "c": one, "d": nil} {
		if got := chain.find(word); got != want {
			t.Errorf("%s: %p, want %p", word, got, want)
		}
	}
	chain = chain.with("b", nil).with("d", nil)
	if chain.find("b") != nil || chain.find("a") != three || chain.find("c") != one {
		t.Error("removing one word disturbed the others")
	}
	if older.find("a") != one || older.find("b") != two || older.find("c") != nil {
		t.Error("an older chain changed")
	}
	if chain.with("a", nil).with("c", nil) != nil {
		t.Error("an empty chain is not nil")
	}
}
