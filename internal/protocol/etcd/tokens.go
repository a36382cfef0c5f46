package etcd

import (
	"container/list"
	"crypto/rand"
	"sync"
	"sync/atomic"
	"time"

	"fiveways.dev/fiveways/internal/core/catalog"
)

const (
	// tokenLife is how long a token lives after its last use, as in etcd's simple tokens.
	tokenLife = 5 * time.Minute
	// maxTokens bounds the memory for tokens: beyond it the least recently used token is removed,
	// and its client logs in again.
	maxTokens = 100_000
)

// tokens holds the tokens that clients send instead of a password. They are in memory only: after a
// restart clients log in again.
type tokens struct {
	now func() time.Time // [time.Now]

	mu     sync.Mutex
	byText map[string]*list.Element // of *token
	used   list.List                // least recently used first, which also expires first
}

// token is the login of one client.
type token struct {
	text string
	user string
	made uint64 // of the user, catalog.User.Made
	hash string // of the password at login: a password change ends the token

	expires  time.Time                // guarded by tokens.mu
	standing atomic.Pointer[standing] // last result of lookUp; nil before the first
}

// standing is the state of a token's user, at a generation of the broker's rules and a revision of
// the roles.
type standing struct {
	generation, revision uint64
	loopbackOnly         bool
	root                 bool // has etcd's role root
	administrator        bool // has the broker's tag administrator
}

func newTokens() *tokens {
	return &tokens{now: time.Now, byText: map[string]*list.Element{}}
}

func newToken(u *catalog.User) *token {
	return &token{text: rand.Text(), user: u.Name, made: u.Made, hash: u.Hash}
}

// issue creates a token for a user, in the state in which its password was checked.
func (t *tokens) issue(u *catalog.User) string {
	made := newToken(u)
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	made.expires = now.Add(tokenLife)
	for first := t.used.Front(); first != nil && (t.used.Len() >= maxTokens || !first.Value.(*token).expires.After(now)); first = t.used.Front() {
		t.remove(first)
	}
	t.byText[made.text] = t.used.PushBack(made)
	return made.text
}

// use returns a token that has not expired and extends its life, or returns nil.
func (t *tokens) use(text string) *token {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.byText[text]
	if e == nil {
		return nil
	}
	found, now := e.Value.(*token), t.now()
	if !found.expires.After(now) {
		t.remove(e)
		return nil
	}
	found.expires = now.Add(tokenLife)
	t.used.MoveToBack(e)
	return found
}

// revoke removes a token.
func (t *tokens) revoke(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.byText[text]; e != nil {
		t.remove(e)
	}
}

// remove removes a token. The caller holds mu.
func (t *tokens) remove(e *list.Element) {
	t.used.Remove(e)
	delete(t.byText, e.Value.(*token).text)
}
