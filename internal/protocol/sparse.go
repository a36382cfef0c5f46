package protocol

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"sync"
	"time"
)

// In each period a sparse log writes one line of a kind per address and user, and a limited number
// of lines of a kind in total.
const (
	sparseLines = 20
	sparseTime  = time.Minute
)

// Sparse returns a rate-limited log for lines that clients can cause at will without a login. In
// each minute it writes a message once for each address ("peer") and "user", and only a few times
// in total. At the end of the minute it writes the message again for each source with suppressed
// lines, with their number as "left_out".
func Sparse(log *slog.Logger) *slog.Logger {
	return slog.New(&sparse{log.Handler(), &sparseKinds{byMessage: map[string]*sparseKind{}}})
}

type sparse struct {
	slog.Handler
	kinds *sparseKinds
}

// sparseKinds counts lines by message. Messages are constants of the program, so they are few.
type sparseKinds struct {
	mu        sync.Mutex
	byMessage map[string]*sparseKind // guarded by mu
}

// sparseKind counts the lines with one message in the current period.
type sparseKind struct {
	until   time.Time          // the end of the period
	written map[sparseFrom]int // sources of written lines, with the number suppressed since; at most sparseLines
	leftOut int                // lines of all other sources
	telling bool               // tell is scheduled for the end of the period
}

// sparseFrom is the source of a line.
type sparseFrom struct{ host, user string }

// Handle implements slog.Handler.
func (h *sparse) Handle(ctx context.Context, r slog.Record) error {
	if !h.kinds.take(r, h.Handler) {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h *sparse) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &sparse{h.Handler.WithAttrs(attrs), h.kinds}
}

// WithGroup implements slog.Handler.
func (h *sparse) WithGroup(name string) slog.Handler {
	return &sparse{h.Handler.WithGroup(name), h.kinds}
}

// sourceOf returns the source of a line.
func sourceOf(r slog.Record) (from sparseFrom) {
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "peer":
			host, _, _ := net.SplitHostPort(a.Value.String()) //nolint:errcheck // an address in another form is used as it is
			from.host = cmp.Or(host, a.Value.String())
		case "user":
			from.user = a.Value.String()
		}
		return true
	})
	return from
}

// take reports whether to write a line. The first suppressed line schedules tell.
func (ks *sparseKinds) take(r slog.Record, to slog.Handler) bool {
	ks.mu.Lock()
	defer ks.mu.Unlock()
	k, now := ks.byMessage[r.Message], time.Now()
	if k == nil {
		k = &sparseKind{}
		ks.byMessage[r.Message] = k
	}
	if !k.telling && !now.Before(k.until) {
		k.until, k.written = now.Add(sparseTime), map[sparseFrom]int{}
	}
	from := sourceOf(r)
	_, again := k.written[from]
	if !again && len(k.written) < sparseLines {
		k.written[from] = 0
		return true
	}
	if again {
		k.written[from]++
	} else {
		k.leftOut++
	}
	if !k.telling {
		k.telling = true
		level, message := r.Level, r.Message
		time.AfterFunc(k.until.Sub(now), func() { ks.tell(k, level, message, to) })
	}
	return false
}

// tell writes how many lines were suppressed, by source.
func (ks *sparseKinds) tell(k *sparseKind, level slog.Level, message string, to slog.Handler) {
	ks.mu.Lock()
	written, others := k.written, k.leftOut
	k.until, k.leftOut, k.telling = time.Time{}, 0, false // the next line begins a new period
	ks.mu.Unlock()
	line := func(n int, attrs ...slog.Attr) {
		if n == 0 {
			return
		}
		r := slog.NewRecord(time.Now(), level, message, 0)
		r.AddAttrs(append(attrs, slog.Int("left_out", n))...)
		to.Handle(context.Background(), r) //nolint:errcheck // a log that fails cannot log that
	}
	for from, n := range written {
		line(n, slog.String("peer", from.host), slog.String("user", from.user))
	}
	line(others)
}
