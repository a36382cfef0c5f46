package server

import (
	"context"
	"log/slog"
	"maps"
	"slices"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// etcdLogger returns a logger for etcd's code that writes to the broker's log. It logs etcd's info
// level as debug.
func etcdLogger(log *slog.Logger) *zap.Logger { return zap.New(slogCore{log}) }

// slogCore passes zap's entries to slog.
type slogCore struct{ log *slog.Logger }

func slogLevel(l zapcore.Level) slog.Level {
	switch {
	case l >= zapcore.ErrorLevel:
		return slog.LevelError
	case l == zapcore.WarnLevel:
		return slog.LevelWarn
	}
	return slog.LevelDebug
}

// Enabled reports whether entries of the level are written.
func (c slogCore) Enabled(l zapcore.Level) bool {
	return c.log.Enabled(context.Background(), slogLevel(l))
}

// With returns a core that adds fields to all entries.
func (c slogCore) With(fields []zapcore.Field) zapcore.Core {
	return slogCore{c.log.With(pairs(fields)...)}
}

// Check adds the core to ce if it writes the entry.
func (c slogCore) Check(e zapcore.Entry, ce *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(e.Level) {
		return ce.AddCore(e, c)
	}
	return ce
}

// Write writes an entry.
func (c slogCore) Write(e zapcore.Entry, fields []zapcore.Field) error {
	c.log.Log(context.Background(), slogLevel(e.Level), "etcd: "+e.Message, pairs(fields)...)
	return nil
}

// Sync does nothing.
func (c slogCore) Sync() error { return nil }

// pairs returns fields as names and values, sorted by name.
func pairs(fields []zapcore.Field) []any {
	o := zapcore.NewMapObjectEncoder()
	for _, f := range fields {
		f.AddTo(o)
	}
	var all []any
	for _, name := range slices.Sorted(maps.Keys(o.Fields)) {
		all = append(all, name, o.Fields[name])
	}
	return all
}
