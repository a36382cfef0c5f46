package streams

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// script generates random commands about a few streams. Most are valid; some are wrong in one
// place.
type script struct {
	*rand.Rand
	prefix string
	top    int // of the explicit ids, roughly
	clock  int // number of ids from the clock
}

func (s *script) key() string { return s.prefix + s.pick("a", "a", "a", "b", "b", "t", "none") }

func (s *script) pick(of ...string) string { return of[s.IntN(len(of))] }

func (s *script) group() string { return s.pick("g", "g", "g", "h", "nobody") }

func (s *script) consumer() string { return s.pick("c1", "c1", "c2", "c3") }

// id returns an id that probably exists.
func (s *script) id(key string) string {
	if strings.HasSuffix(key, "t") && s.clock > 0 {
		return fmt.Sprintf("<%d>", s.IntN(s.clock))
	}
	return fmt.Sprintf("%d-%d", s.IntN(s.top+2), s.IntN(3))
}

func (s *script) ids(key string) (ids []string) {
	for range 1 + s.IntN(5) {
		ids = append(ids, s.id(key))
	}
	return ids
}

// from and to return the ends of ranges.
func (s *script) from(key string) string {
	switch s.IntN(6) {
	case 0, 1:
		return "-"
	case 2:
		return "(" + s.id(key)
	case 3:
		return fmt.Sprint(s.IntN(s.top + 2))
	}
	return s.id(key)
}

func (s *script) to(key string) string {
	switch s.IntN(6) {
	case 0, 1, 2:
		return "+"
	case 3:
		return "(" + s.id(key)
	}
	return s.id(key)
}

func (s *script) count() []string {
	if s.IntN(2) == 0 {
		return nil
	}
	return []string{"COUNT", s.pick("0", "1", "1", "2", "3", "10", "-1")}
}

func (s *script) trim(key string) []string {
	how := []string{}
	if s.IntN(2) == 0 {
		how = append(how, s.pick("~", "=", "~"))
	}
	if s.IntN(2) == 0 {
		how = append([]string{"MINID"}, append(how, s.id(key))...)
	} else {
		how = append([]string{"MAXLEN"}, append(how, s.pick("0", "1", "3", "5", "20", "90"))...)
	}
	if s.IntN(3) == 0 {
		how = append(how, "LIMIT", s.pick("0", "1", "100", "150"))
	}
	return how
}

// maybe returns the words one time in n.
func (s *script) maybe(n int, words ...string) []string {
	if s.IntN(n) == 0 {
		return words
	}
	return nil
}

func join(parts ...any) (args []string) {
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			args = append(args, p)
		case []string:
			args = append(args, p...)
		}
	}
	return args
}

// next returns the next command.
func (s *script) next() []string {
	args := s.command()
	if s.IntN(25) == 0 {
		args = s.spoil(args)
	}
	return args
}

// spoil makes a command invalid.
func (s *script) spoil(args []string) []string {
	i := 1 + s.IntN(len(args)-1)
	if strings.HasPrefix(args[i], s.prefix) {
		if args[0] != "XADD" { // if ids are far apart, blocks differ from those of Redis
			args[i] = s.key() // a queue must have a name
		}
		return args
	}
	switch s.IntN(4) {
	case 0:
		if args[0] == "XADD" {
			args[i] = s.pick("x", "0-0", "-", "5-*", "", "1-2-3")
			break
		}
		args[i] = s.pick("x", "-1", "", "99999999999999999999", "-", "+", "$", ">", "1-2-3", "(", "18446744073709551615-18446744073709551615", "0-0", " 7", "MAXLEN", "5-*")
	case 1:
		args = append(args[:i:i], args[i+1:]...)
	case 2:
		args = append(args[:i+1:i+1], args[i:]...)
	case 3:
		args[i] = strings.ToLower(args[i])
	}
	return args
}

func (s *script) command() []string {
	key := s.key()
	switch n := s.IntN(100); {
	case n < 25:
		return s.add(key)
	case n < 28:
		return join("XLEN", key)
	case n < 33:
		if s.IntN(2) == 0 {
			return join("XREVRANGE", key, s.to(key), s.from(key), s.count())
		}
		return join("XRANGE", key, s.from(key), s.to(key), s.count())
	case n < 37:
		return s.read()
	case n < 43:
		return s.groups(key)
	case n < 63:
		return s.readGroup()
	case n < 70:
		return join("XACK", key, s.group(), s.ids(key))
	case n < 76:
		if s.IntN(3) == 0 {
			return join("XPENDING", key, s.group())
		}
		return join("XPENDING", key, s.group(), s.maybe(3, "IDLE", s.pick("0", "3600000")), s.from(key), s.to(key),
			s.pick("0", "1", "3", "10", "-1"), s.maybe(2, s.consumer()))
	case n < 82:
		return join("XCLAIM", key, s.group(), s.consumer(), s.pick("0", "0", "3600000", "-1"), s.ids(key),
			s.maybe(3, "IDLE", s.pick("0", "7200000", "-5")), s.maybe(6, "TIME", s.pick("0", "1000", "-1", "99999999999999")),
			s.maybe(4, "RETRYCOUNT", s.pick("0", "5", "-1")), s.maybe(3, "FORCE"), s.maybe(4, "JUSTID"), s.maybe(8, "LASTID", s.id(key)))
	case n < 86:
		return join("XAUTOCLAIM", key, s.group(), s.consumer(), s.pick("0", "0", "3600000"), s.from(key),
			s.maybe(2, "COUNT", s.pick("1", "2", "5", "0")), s.maybe(3, "JUSTID"))
	case n < 90:
		return join("XDEL", key, s.ids(key))
	case n < 92:
		return join("XTRIM", key, s.trim(key))
	case n < 93:
		return join("XSETID", key, s.id(key), s.maybe(3, "ENTRIESADDED", s.pick("0", "5", "1000")), s.maybe(3, "MAXDELETEDID", s.id(key)))
	case n < 95:
		return join("XINFO", "STREAM", key, s.maybe(2, "FULL"))
	case n < 96:
		return join("XINFO", "STREAM", key, "FULL", "COUNT", s.pick("0", "1", "3"))
	case n < 98:
		return join("XINFO", "GROUPS", key)
	}
	return join("XINFO", "CONSUMERS", key, s.group())
}

func (s *script) add(key string) []string {
	var id string
	switch {
	case strings.HasSuffix(key, "t"):
		id = "*"
	case s.IntN(6) == 0:
		id = fmt.Sprintf("%d-*", s.IntN(3)+s.top-1)
	case s.IntN(6) == 0:
		id = fmt.Sprint(s.top)
		s.top++
	case s.IntN(8) == 0:
		id = s.id(key)
	default:
		s.top += s.IntN(2)
		id = fmt.Sprintf("%d-%d", s.top, s.IntN(3))
	}
	args := join("XADD", key, s.maybe(8, "NOMKSTREAM"))
	if s.IntN(8) == 0 {
		args = append(args, s.trim(key)...)
	}
	args = append(args, id)
	for range 1 + s.IntN(3) {
		args = append(args, s.pick("f", "body", "body", "k", "", "x-stream-fields", strings.Repeat("long", 80)), s.pick("v", "", "body", "\x00\xff", "12"))
	}
	return args
}

func (s *script) groups(key string) []string {
	group := s.group()
	if s.IntN(3) > 0 && group == "nobody" {
		group = "g"
	}
	switch s.IntN(12) {
	default:
		return join("XGROUP", "CREATE", key, group, s.pick("0", "0", "$", s.id(key)), s.maybe(3, "MKSTREAM"), s.maybe(5, "ENTRIESREAD", s.pick("0", "2", "-1", "-2")))
	case 0, 1:
		return join("XGROUP", "SETID", key, group, s.pick("0", "$", "-", s.id(key)), s.maybe(4, "ENTRIESREAD", s.pick("0", "3")))
	case 2:
		return join("XGROUP", "DESTROY", key, group)
	case 3, 4:
		return join("XGROUP", "CREATECONSUMER", key, group, s.consumer())
	case 5, 6:
		return join("XGROUP", "DELCONSUMER", key, group, s.consumer())
	}
}

// streams returns the last arguments of XREAD and XREADGROUP.
func (s *script) streams(id func(key string) string) []string {
	args := []string{"STREAMS"}
	var ids []string
	for range 1 + s.IntN(5)/4*(1+s.IntN(2)) {
		key := s.key()
		args, ids = append(args, key), append(ids, id(key))
	}
	return append(args, ids...)
}

func (s *script) read() []string {
	return join("XREAD", s.count(), s.streams(func(key string) string { return s.pick("0", "$", s.id(key), s.id(key), s.id(key)) }))
}

func (s *script) readGroup() []string {
	return join("XREADGROUP", "GROUP", s.group(), s.consumer(), s.count(), s.maybe(6, "NOACK"),
		s.streams(func(key string) string { return s.pick(">", ">", ">", "0", s.id(key)) }))
}
