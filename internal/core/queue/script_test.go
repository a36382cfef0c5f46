package queue

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestScripts runs testdata. A message is printed as priority/seq with its status; "now=" is unix
// ms.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		sc := &script{s: new(State)}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			sc.out.Reset()
			sc.verb(t, d)
			sc.s.check()
			if sc.out.Len() == 0 {
				return "ok\n"
			}
			return sc.out.String()
		})
	})
}

type script struct {
	s   *State
	out strings.Builder
}

func (sc *script) verb(t *testing.T, d *datadriven.TestData) {
	var (
		n             = 1
		now, keep     int64
		h, seq        uint64
		it            Item
		p             uint8
		body          = "body"
		transient     bool
		written, size uint64
	)
	d.MaybeScanArgs(t, "n", &n)
	d.MaybeScanArgs(t, "now", &now)
	d.MaybeScanArgs(t, "keep", &keep)
	d.MaybeScanArgs(t, "h", &h)
	d.MaybeScanArgs(t, "seq", &seq)
	d.MaybeScanArgs(t, "p", &p)
	d.MaybeScanArgs(t, "index", &it.Index)
	d.MaybeScanArgs(t, "expires", &it.Expires)
	d.MaybeScanArgs(t, "due", &it.Due)
	d.MaybeScanArgs(t, "count", &it.Count)
	d.MaybeScanArgs(t, "size", &size)
	d.MaybeScanArgs(t, "body", &body)
	d.MaybeScanArgs(t, "transient", &transient)
	d.MaybeScanArgs(t, "written", &written)
	handle := MakeHandle(p, h)
	s := sc.s
	switch d.Cmd {
	case "publish":
		it.Size = uint32(size)
		if !transient {
			it.Flags = Persistent
		}
		for i := range n {
			one := it
			one.Env = env(body)
			one.Handle = MakeHandle(p, seq)
			one.Sub = uint32(i)
			got := s.Publish(&one)
			if i == 0 || i == n-1 {
				fmt.Fprintf(&sc.out, "%s\n", name(got))
			}
			if seq != 0 {
				seq++
			}
		}
	case "next":
		for range n {
			sc.item(s.Next(now))
		}
	case "peek":
		sc.item(s.Peek(now))
	case "get":
		got, status := s.Get(handle)
		sc.item(got)
		fmt.Fprintln(&sc.out, status)
	case "lend":
		sc.item(s.Lend(handle))
	case "park":
		fmt.Fprintln(&sc.out, s.Park(handle))
	case "unpark-all":
		s.UnparkAll()
	case "block":
		fmt.Fprintln(&sc.out, s.Block(handle))
	case "unblock":
		fmt.Fprintln(&sc.out, s.Unblock(handle))
	case "oldest":
		sc.item(s.Oldest())
	case "aside":
		fmt.Fprintf(&sc.out, "parked=%d blocked=%d\n", s.Parked(), s.Blocked())
	case "settle":
		got, ok := s.Settle(handle)
		if !ok {
			fmt.Fprintln(&sc.out, "gone")
			return
		}
		sc.item(&got)
	case "settle-range":
		fmt.Fprintln(&sc.out, s.SettleRange(handle, n, nil))
	case "requeue":
		fmt.Fprintln(&sc.out, s.Requeue(handle, it.Count, it.Due))
	case "lend-expired":
		for _, h := range s.LendExpired(now, n, nil) {
			it, _ := s.Get(h)
			sc.item(it)
		}
	case "purge":
		s.Purge(func(start Handle, n int) { fmt.Fprintf(&sc.out, "%s +%d\n", name(start), n) }, nil)
	case "each":
		from := handle
		if h == 0 {
			from = 0
		}
		s.Each(from, func(it *Item, status Status) bool {
			fmt.Fprintf(&sc.out, "%s %v%s\n", name(it.Handle), status, details(it))
			return true
		})
	case "cool":
		var spill func(*Item) (uint64, uint32, bool)
		if d.HasArg("spill") {
			spill = spillAll
		}
		s.Cool(written, keep, spill)
	case "restart":
		sc.s = new(State)
		if err := sc.s.Restore(s.AppendTo(nil)); err != nil {
			t.Fatal(err)
		}
		if d.HasArg("crash") {
			sc.s.MarkAllRedelivered()
		}
	case "stats":
		at := "never"
		if e := s.NextEvent(); e != never {
			at = fmt.Sprint(e)
		}
		chunks := 0
		for _, l := range s.lanes {
			chunks += len(l.row) - l.head
		}
		fmt.Fprintf(&sc.out, "ready=%d/%d unacked=%d/%d scheduled=%d event=%s next=%d chunks=%d\n", s.Ready(), s.ReadyBytes(),
			s.Unacked(), s.UnackedBytes(), s.Scheduled(), at, s.NextSeq(p), chunks)
	default:
		t.Fatalf("unknown verb %q", d.Cmd)
	}
}

func name(h Handle) string { return fmt.Sprintf("%d/%d", h.Priority(), h.Seq()) }

// item prints a message: its name and unusual fields.
func (sc *script) item(it *Item) {
	if it == nil {
		fmt.Fprintln(&sc.out, "none")
		return
	}
	fmt.Fprintf(&sc.out, "%s%s\n", name(it.Handle), details(it))
}

func details(it *Item) string {
	var b strings.Builder
	if it.Env == nil {
		b.WriteString(" on-disk")
	}
	if it.Flags&Scratch != 0 {
		b.WriteString(" scratch")
	}
	if it.Flags&Redelivered != 0 {
		b.WriteString(" redelivered")
	}
	if it.Count != 0 {
		fmt.Fprintf(&b, " count=%d", it.Count)
	}
	return b.String()
}
