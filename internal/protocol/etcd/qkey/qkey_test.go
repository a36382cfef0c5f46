package qkey

import (
	"bytes"
	"testing"
)

func TestParse(t *testing.T) {
	for key, want := range map[string]Path{
		"/q/a":                          {Kind: Record, Queue: []byte("a")},
		"/q/a/":                         {Kind: Record, Queue: []byte("a")},
		"/queue/a":                      {Kind: Record, Queue: []byte("a")},
		"/q/a%2Fb":                      {Kind: Record, Queue: []byte("a/b")},
		"/q/50%":                        {Kind: Record, Queue: []byte("50%")},
		"/q/%zz%4":                      {Kind: Record, Queue: []byte("%zz%4")},
		"/q/":                           {},
		"/q":                            {},
		"/q//a":                         {},
		"/quest/a":                      {},
		"q/a":                           {},
		"":                              {},
		"/q/a/p/k":                      {Kind: Producer, Queue: []byte("a"), Tail: []byte("k")},
		"/q/a/p":                        {Queue: []byte("a")},
		"/q/a/p/":                       {Queue: []byte("a")},
		"/q/a/p/me/":                    {Queue: []byte("a")},
		"/q/a/producer/me/k":            {Kind: Producer, Queue: []byte("a"), Client: []byte("me"), Tail: []byte("k")},
		"/q/a/i/me/k/l":                 {Kind: Producer, Queue: []byte("a"), Client: []byte("me"), Tail: []byte("k/l")},
		"/queue/a/input/me/k":           {Kind: Producer, Queue: []byte("a"), Client: []byte("me"), Tail: []byte("k")},
		"/q/a/7/k":                      {Kind: Message, Queue: []byte("a"), Index: 7, Tail: []byte("k")},
		"/q/a/00000000000000000007/k/l": {Kind: Message, Queue: []byte("a"), Index: 7, Tail: []byte("k/l")},
		"/q/a/18446744073709551615/k":   {Kind: Message, Queue: []byte("a"), Index: 1<<64 - 1, Tail: []byte("k")},
		"/q/a/18446744073709551616/k":   {Queue: []byte("a")},
		"/q/a/000000000000000000007/k":  {Queue: []byte("a")},
		"/q/a/0/k":                      {Queue: []byte("a")},
		"/q/a/7":                        {Queue: []byte("a")},
		"/q/a/7/":                       {Queue: []byte("a")},
		"/q/a/x/k":                      {Queue: []byte("a")},
		"/q/a/c":                        {Queue: []byte("a")},
		"/q/a/c/":                       {Queue: []byte("a")},
		"/q/a/c/w":                      {Kind: Consumer, Queue: []byte("a"), Client: []byte("w"), Base: []byte("/q/a/c/w")},
		"/q/a/c/w/":                     {Kind: Consumer, Queue: []byte("a"), Client: []byte("w"), Base: []byte("/q/a/c/w")},
		"/queue/a/consumer/w%2f1/":      {Kind: Consumer, Queue: []byte("a"), Client: []byte("w/1"), Base: []byte("/queue/a/consumer/w%2f1")},
		"/q/a/c/w/7/k/l":                {Kind: Delivery, Queue: []byte("a"), Client: []byte("w"), Index: 7, Tail: []byte("k/l"), Base: []byte("/q/a/c/w")},
		"/q/a/c/w/7":                    {Queue: []byte("a")},
		"/q/a/c/w/x/k":                  {Queue: []byte("a")},
	} {
		got := Parse([]byte(key))
		if got.Kind != want.Kind || got.Index != want.Index || !bytes.Equal(got.Queue, want.Queue) || !bytes.Equal(got.Client, want.Client) ||
			!bytes.Equal(got.Tail, want.Tail) || !bytes.Equal(got.Base, want.Base) || (got.Client == nil) != (want.Client == nil) {
			t.Errorf("%q: got %+v, want %+v", key, got, want)
		}
	}
}

func TestSpan(t *testing.T) {
	prefix := func(p string) (string, string) { return p, string(PrefixEnd([]byte(p))) }
	for _, tc := range []struct {
		key, end            string
		queue, part, client string
		has, not            []string
	}{
		{key: "/q/a/", end: "/q/a0", queue: "a", part: "c", has: []string{"/q/a/1", "/q/a/c/w"}, not: []string{"/q/a", "/q/b/1"}},
		{key: "/queue/a/", end: "/queue/a0", queue: "a", part: "consumer"},
		{key: "/q/a", end: "/q/b", part: "c", has: []string{"/q/a", "/q/ab/1"}, not: []string{"/q/b"}},
		{key: "/q/", end: "/q0", part: "c", has: []string{"/q/z"}},
		{key: "/q/b", end: "\x00", part: "c", has: []string{"/q/b", "/q/z"}, not: []string{"/q/a", "/queue/a", "zz"}},
		{key: "/q/a/c", end: "/q/a/d", queue: "a", part: "c"},
		{key: "/q/a/cons", end: "/q/a/cont", queue: "a", part: "consumer"},
		{key: "/q/a/consumer/w/", end: "/q/a/consumer/w0", queue: "a", part: "consumer", client: "w"},
		{key: "/q/a/c/w", end: "/q/a/c/x", queue: "a", part: "c"},
		{key: "/q/a/7/", end: "/q/a/70", queue: "a", part: "c", has: []string{"/q/a/00000000000000000007/k"}, not: []string{"/q/a/00000000000000000008/k"}},
		{key: "/q/a/c/w/7/k", end: "/q/a/c/w/9/", queue: "a", part: "c", client: "w",
			has: []string{"/q/a/c/w/00000000000000000007/k", "/q/a/c/w/00000000000000000008/k"}, not: []string{"/q/a/c/w/00000000000000000009/k"}},
	} {
		s := NewSpan([]byte(tc.key), []byte(tc.end))
		if string(s.Queue) != tc.queue || string(s.Part) != tc.part || string(s.Client) != tc.client {
			t.Errorf("%q to %q: %q %q %q", tc.key, tc.end, s.Queue, s.Part, s.Client)
		}
		for _, k := range tc.has {
			if !s.Has([]byte(k)) {
				t.Errorf("%q to %q lacks %q", tc.key, tc.end, k)
			}
		}
		for _, k := range tc.not {
			if s.Has([]byte(k)) {
				t.Errorf("%q to %q has %q", tc.key, tc.end, k)
			}
		}
	}
	for _, tc := range []struct {
		prefix string
		want   uint64
	}{
		{"/q/a/", 0}, {"/q/a/0000000000000000000", 0}, {"/q/a/00000000000000000012", 12}, {"/q/a/00000000000000000012/x", 12},
		{"/q/a/c/", 1<<64 - 1}, {"/q/a/0000000000000000001x", 19}, {"/q/a/0000000000000000001/", 1},
	} {
		s := NewSpan([]byte(tc.prefix), []byte("/q/a0"))
		if got := s.FirstIndex([]byte("/q/a")); got != tc.want {
			t.Errorf("%q begins at %d, want %d", tc.prefix, got, tc.want)
		}
	}
	for _, tc := range []struct {
		end  string
		want uint64
	}{
		{"/q/a0", 1<<64 - 1}, {"/q/b", 1<<64 - 1}, {"/q/a/:", 1<<64 - 1}, {"/q/a/c", 1<<64 - 1}, {"/q/a/00000000000000000012", 12},
		{"/q/a/00000000000000000012/x", 12}, {"/q/a/0000000000000000001x", 19}, {"/q/a/0000000000000000001/", 10}, {"/q/a/", 0},
	} {
		s := Span{From: []byte("/q/a/"), To: []byte(tc.end)}
		if got := s.EndIndex([]byte("/q/a")); got != tc.want {
			t.Errorf("%q ends at %d, want %d", tc.end, got, tc.want)
		}
	}
	key, end := prefix("/q/a/c/w")
	for _, tc := range []struct {
		key, end, base string
		want           Reach
	}{
		{"/q/a/c/w", "", "/q/a/c/w", Self},
		{"/q/a/c/w/", "", "/q/a/c/w", Self},
		{key, end, "/q/a/c/w", Whole},
		{"/q/a/c/w/", "/q/a/c/w0", "/q/a/c/w", All},
		{"/q/a/c/w/7/k", "", "/q/a/c/w", Some},
		{"/q/a/c/w/7/k", "/q/a/c/w/8/k", "/q/a/c/w", Some},
		{"/q/a/c/w/", "/q/a/c/x", "", Elsewhere},
		{"/q/a/c/w", "/q/a/c/y", "", Elsewhere},
		{"/q/a/c/", "/q/a/c0", "", Elsewhere},
		{"/q/a/", "/q/a0", "", Elsewhere},
		{"/q/a", "", "", Elsewhere},
		{"/q/a/c/w/", "\x00", "", Elsewhere},
	} {
		p, got := ConsumerOf([]byte(tc.key), []byte(tc.end))
		if got != tc.want || got != Elsewhere && string(p.Base) != tc.base {
			t.Errorf("%q to %q: %v of %q, want %v of %q", tc.key, tc.end, got, p.Base, tc.want, tc.base)
		}
	}
}

// Parsing a built key returns its parts, and no key makes the parser fail.
func FuzzKeys(f *testing.F) {
	f.Add([]byte("/q/a/c/w/7/k"), []byte("/q/a/c/w0"), uint64(7))
	f.Add([]byte("/queue/a%2F/p/x/k"), []byte{0}, uint64(1))
	f.Fuzz(func(t *testing.T, key, end []byte, index uint64) {
		Parse(key)
		if Holds(key) {
			s := NewSpan(key, end)
			s.FirstIndex(s.Root)
			ConsumerOf(key, end)
		}
		if len(key) == 0 || len(end) == 0 || index == 0 {
			return
		}
		written := AppendName([]byte("/q/"), key)
		written = AppendName(append(written, "/c/"...), end)
		base := string(written)
		p := Parse(AppendMessage(written, index, key))
		if p.Kind != Delivery || !bytes.Equal(p.Queue, key) || !bytes.Equal(p.Client, end) || p.Index != index || !bytes.Equal(p.Tail, key) || string(p.Base) != base {
			t.Fatalf("%q was read as %+v", written, p)
		}
	})
}
