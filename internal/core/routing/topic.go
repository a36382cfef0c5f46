package routing

import (
	"bytes"
	"hash/maphash"
	"strings"
)

// topic matches keys word by word, where words are separated by dots: * matches one word, # any
// number of them. The empty key has no words; otherwise empty words count as words.
type topic struct{ root *topicNode }

// topicNode is the end of one word in a trie of patterns. Nodes are immutable.
type topicNode struct {
	words *wordTrie // nil if empty
	star  *topicNode
	hash  *topicNode
	set   *destinations // of the patterns that end here; nil if empty
}

func (topic) check(*Binding) error { return nil }

func (x topic) add(b *Binding, others siblings) matcher {
	if others.existWithKey() {
		return x
	}
	return topic{x.root.change(patternWords(b.Key), func(s *destinations) *destinations { return s.with(b.Destination()) })}
}

func (x topic) remove(b *Binding, others siblings) matcher {
	if others.existWithKey() {
		return x
	}
	return topic{x.root.change(patternWords(b.Key), func(s *destinations) *destinations { return s.without(b.Destination()) })}
}

func patternWords(key string) []string {
	if key == "" {
		return nil
	}
	return strings.Split(key, ".")
}

// change returns the trie with the set at the end of words changed. nil stands for an empty trie,
// as argument and as result.
func (n *topicNode) change(words []string, change func(*destinations) *destinations) *topicNode {
	var next topicNode
	if n != nil {
		next = *n
	}
	switch {
	case len(words) == 0:
		next.set = change(next.set)
	case words[0] == "*":
		next.star = next.star.change(words[1:], change)
	case words[0] == "#":
		next.hash = next.hash.change(words[1:], change)
	default:
		next.changeWord(words, change)
	}
	if next == (topicNode{}) {
		return nil
	}
	return &next
}

func (n *topicNode) changeWord(words []string, change func(*destinations) *destinations) {
	word := words[0]
	at := maphash.String(wordSeed, word)
	var all wordTrie
	if n.words != nil {
		all = *n.words
	}
	chain := all.get(at)
	chain = chain.with(word, chain.find(word).change(words[1:], change))
	if all = all.with(at, 0, chain); all.empty() {
		n.words = nil
		return
	}
	n.words = &all
}

// topicScratch is the state of one walk through the trie.
type topicScratch struct {
	now, next []*topicNode     // nodes reached by consuming exactly the words so far
	open      seen[*topicNode] // # nodes reached so far: each matches any number of words from there on
}

func (x topic) match(m *Message, r *Route) {
	if x.root == nil {
		return
	}
	x.matchKey(m.Key, r)
	for _, key := range m.Also {
		x.matchKey(key, r)
	}
}

// matchKey walks all branches at once, word by word. No branch is walked twice, because a node is
// reached only through its single parent, and each # node is recorded once in open. So patterns
// with many # cannot make the work explode.
func (x topic) matchKey(key []byte, r *Route) {
	s := &r.topic
	s.next = s.next[:0]
	r.enter(x.root)
	for more := len(key) > 0; more; {
		var word []byte
		word, key, more = bytes.Cut(key, dot)
		s.now, s.next = s.next, s.now[:0]
		open := s.open.list // nodes opened by this word wait for the next one
		for _, n := range s.now {
			r.step(n, word)
		}
		for _, n := range open {
			r.step(n, word)
		}
		clear(s.now) // an idle session must not hold old tables
	}
	for _, n := range s.next {
		if n.set != nil {
			r.take(n.set)
		}
	}
	clear(s.next)
	s.open.reset()
}

var dot = []byte{'.'}

func (r *Route) step(n *topicNode, word []byte) {
	if n.words != nil {
		if child := n.words.get(maphash.Bytes(wordSeed, word)).find(view(word)); child != nil {
			r.enter(child)
		}
	}
	if n.star != nil {
		r.enter(n.star)
	}
}

func (r *Route) enter(n *topicNode) {
	r.topic.next = append(r.topic.next, n)
	for h := n.hash; h != nil && r.topic.open.add(h); h = h.hash {
		if h.set != nil {
			r.take(h.set) // a final # matches all remaining words
		}
	}
}
