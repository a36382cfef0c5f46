package replica

import (
	"fmt"
	"log/slog"
)

// raftLogger receives the library's log lines. Its info lines are logged at debug level.
type raftLogger struct{ l *slog.Logger }

// raftPanic is the value with which the library panics if an entry cannot be read, or if an
// invariant is broken.
type raftPanic string

func (r raftLogger) Debug(...any)             {}
func (r raftLogger) Debugf(string, ...any)    {}
func (r raftLogger) Info(v ...any)            { r.l.Debug("raft: " + fmt.Sprint(v...)) }
func (r raftLogger) Infof(f string, v ...any) { r.l.Debug("raft: " + fmt.Sprintf(f, v...)) }
func (r raftLogger) Warning(v ...any)         { r.l.Warn("raft: " + fmt.Sprint(v...)) }
func (r raftLogger) Warningf(f string, v ...any) {
	r.l.Warn("raft: " + fmt.Sprintf(f, v...))
}
func (r raftLogger) Error(v ...any)            { r.l.Error("raft: " + fmt.Sprint(v...)) }
func (r raftLogger) Errorf(f string, v ...any) { r.l.Error("raft: " + fmt.Sprintf(f, v...)) }
func (r raftLogger) Fatal(v ...any)            { panic(raftPanic(fmt.Sprint(v...))) }
func (r raftLogger) Fatalf(f string, v ...any) { panic(raftPanic(fmt.Sprintf(f, v...))) }
func (r raftLogger) Panic(v ...any)            { panic(raftPanic(fmt.Sprint(v...))) }
func (r raftLogger) Panicf(f string, v ...any) { panic(raftPanic(fmt.Sprintf(f, v...))) }
