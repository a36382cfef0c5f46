package semkeys

import (
	"bytes"
)

// root is the prefix of all semaphore keys.
const root = "/semaphore/"

// path is a parsed key.
type path struct {
	semaphore string
	task      string // "": the key of the semaphore itself
}

// holds reports whether a key belongs to the semaphores.
func holds(key []byte) bool { return len(key) >= len(root) && string(key[:len(root)]) == root }

// parse parses a key. ok is false if the key cannot exist.
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

// span is a range of semaphore keys: [from, to).
type span struct {
	from, to []byte
	of       string // all keys are of tasks of this semaphore; "": no such restriction
}

// newSpan returns the range from key to end as a client specifies it. key must be a semaphore key.
// The range ends at the end of the semaphore keys. Without an end it contains only key.
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

// after returns the first key after all keys with the prefix.
func after(prefix []byte) []byte {
	end := bytes.Clone(prefix)
	end[len(end)-1]++ // the prefix ends with a slash or is UTF-8: it has no byte 0xff
	return end
}
