package semkeys

import (
	"bytes"
)

// root is what the keys of all semaphores begin with.
const root = "/semaphore/"

// path is a key, taken apart.
type path struct {
	semaphore string
	task      string // "": the key is that of the semaphore
}

// holds reports whether a key belongs to the semaphores.
func holds(key []byte) bool { return len(key) >= len(root) && string(key[:len(root)]) == root }

// parse takes a key apart; false: it names nothing.
func parse(key []byte) (p path, ok bool) {
	name, task, deeper := bytes.Cut(key[len(root):], slash)
	if len(name) == 0 || deeper && len(task) == 0 {
		return p, false
	}
	return path{string(name), string(task)}, true
}

var (
	slash     = []byte("/")
	afterRoot = after([]byte(root))
)

// appendKey appends the key of a semaphore, or of a task in it.
func (p path) appendKey(dst []byte) []byte {
	dst = append(append(dst, root...), p.semaphore...)
	if p.task == "" {
		return dst
	}
	return append(append(dst, '/'), p.task...)
}

// span is a range of keys of semaphores: [from, to).
type span struct {
	from, to []byte
	of       string // all are keys of tasks of this semaphore; "": of any, and of semaphores
}

// newSpan is the range from key to end as a client names it. key belongs to the semaphores; keys
// beyond the root do not belong to the range. Without an end it is the key alone.
func newSpan(key, end []byte) span {
	s := span{from: key, to: end}
	if len(end) == 0 {
		s.to = append(bytes.Clone(key), 0)
	}
	if len(end) == 1 && end[0] == 0 || bytes.Compare(s.to, afterRoot) > 0 {
		s.to = afterRoot
	}
	name, _, deeper := bytes.Cut(key[len(root):], slash)
	if deeper && bytes.Compare(s.to, after(key[:len(root)+len(name)+1])) <= 0 {
		s.of = string(name)
	}
	return s
}

// has reports whether a key lies in the span.
func (s *span) has(key []byte) bool {
	return bytes.Compare(s.from, key) <= 0 && bytes.Compare(key, s.to) < 0
}

// covers reports whether all keys that begin with prefix lie in the span.
func (s *span) covers(prefix []byte) bool {
	return bytes.Compare(s.from, prefix) <= 0 && bytes.Compare(after(prefix), s.to) <= 0
}

// meets reports whether a key that begins with prefix may lie in the span.
func (s *span) meets(prefix []byte) bool {
	return bytes.Compare(prefix, s.to) < 0 && bytes.Compare(s.from, after(prefix)) < 0
}

// after is the first key behind all that begin with prefix.
func after(prefix []byte) []byte {
	end := bytes.Clone(prefix)
	end[len(end)-1]++ // it ends with a slash or is UTF-8: there is no byte 0xff
	return end
}
