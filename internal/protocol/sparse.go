package protocol

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// What a sparse log has of one kind of line: the first ones of each time, and then how many more
// there were.
const (
	sparseLines = 20
	sparseTime  = time.Minute
)

// Sparse returns a rate-limited log for lines that clients can cause without a login, any number of
// times: of lines with the same message it writes a few per minute, and at the end one with the
// number of suppressed ones, "left_out".
func Sparse(log *slog.Logger) *slog.Logger {
	return slog.New(&sparse{log.Handler(), &sparseKinds{byMessage: map[string]*sparseKind{}}})
}

type sparse struct {
	slog.Handler
	kinds *sparseKinds
}

// sparseKinds counts by message. Messages are texts of the program: there are few.
type sparseKinds struct {
	mu        sync.Mutex
	byMessage map[string]*sparseKind // guarded by mu
}

type sparseKind struct {
	until   time.Time // the end of the time
	lines   int       // in it so far
	leftOut int       // of them
}

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

// take reports whether a line is to be written. The first that is not has to be told of later.
func (ks *sparseKinds) take(r slog.Record, to slog.Handler) bool {
	ks.mu.Lock()
	defer ks.mu.Unlock()
	k, now := ks.byMessage[r.Message], time.Now()
	if k == nil {
		k = &sparseKind{}
		ks.byMessage[r.Message] = k
	}
	if !now.Before(k.until) {
		k.until, k.lines = now.Add(sparseTime), 0
	}
	if k.lines++; k.lines <= sparseLines {
		return true
	}
	if k.leftOut++; k.leftOut == 1 {
		level, message := r.Level, r.Message
		time.AfterFunc(k.until.Sub(now), func() { ks.tell(k, level, message, to) })
	}
	return false
}

// tell writes how many lines were left out.
func (ks *sparseKinds) tell(k *sparseKind, level slog.Level, message string, to slog.Handler) {
	ks.mu.Lock()
	n := k.leftOut
	k.leftOut = 0
	ks.mu.Unlock()
	r := slog.NewRecord(time.Now(), level, message, 0)
	r.AddAttrs(slog.Int("left_out", n))
	to.Handle(context.Background(), r) //nolint:errcheck // a log that cannot be written cannot tell so
}
