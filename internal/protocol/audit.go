package protocol

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"
)

// Act is an administrative action, done or attempted: a change of users, permissions, policies,
// definitions and the like. It contains no passwords and no message contents.
type Act struct {
	Protocol string // http, etcd, redis, or cluster (by the control socket of a node)
	Who      string // the user; "operator" over the admin socket or on the data folder
	From     string // address; "" for the operator on this machine
	What     string // the action in the protocol's words: PUT, user added, CLIENT KILL
	On       string // the changed object
	Request  string // the request's id in the log; "" for none
	Refusal  string // why it was refused; "" if it succeeded
}

// Audit records acts: in the log, as a group called audit; in a file of its own, if one is
// configured; and the last mostRecent of them in memory. A nil Audit records nothing.
type Audit struct {
	log  *slog.Logger
	path string // "": no file

	mu     sync.Mutex
	recent []AuditLine // guarded by mu: the oldest first
	file   *os.File    // guarded by mu: nil if none is configured or reopening it failed
	failed bool        // guarded by mu: the last write failed, which was logged
}

// mostRecent is how many acts are kept in memory.
const mostRecent = 1000

// auditMode lets only the broker's own user read the file.
const auditMode = 0o600

// OpenAudit opens the file at path for appending, and creates it if it is missing. With the path
// "" there is no file.
func OpenAudit(path string, log *slog.Logger) (*Audit, error) {
	a := &Audit{log: log, path: path}
	if path == "" {
		return a, nil
	}
	var err error
	if a.file, err = openAppend(path); err != nil {
		return nil, fmt.Errorf("audit log: %w", err)
	}
	return a, nil
}

func openAppend(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, auditMode)
}

// Reopen reopens the file after log rotation. If that fails, the open file stays in use.
func (a *Audit) Reopen() error {
	if a == nil || a.path == "" {
		return nil
	}
	f, err := openAppend(a.path)
	if err != nil {
		a.log.Error("audit: the file cannot be reopened, the previous one stays in use", "err", err)
		return fmt.Errorf("audit log: %w", err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	before := a.file
	a.file = f
	return before.Close()
}

// Close closes the file.
func (a *Audit) Close() error {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.file == nil {
		return nil
	}
	err := a.file.Close()
	a.file = nil
	return err
}

// AuditLine is an act as it is recorded, and a line of the file. docs/access.md describes it.
type AuditLine struct {
	Time     time.Time `json:"time"`
	Protocol string    `json:"protocol"`
	Who      string    `json:"who"`
	From     string    `json:"from,omitempty"`
	What     string    `json:"what"`
	On       string    `json:"on,omitempty"`
	Request  string    `json:"request,omitempty"`
	Outcome  string    `json:"outcome"` // done or refused
	Reason   string    `json:"reason,omitempty"`
}

// attrs are the members of a line, without empty ones.
func (l *AuditLine) attrs() (all []slog.Attr) {
	for _, member := range []struct{ name, value string }{
		{"protocol", l.Protocol}, {"who", l.Who}, {"from", l.From}, {"what", l.What}, {"on", l.On}, {"request", l.Request}, {"outcome", l.Outcome}, {"reason", l.Reason},
	} {
		if member.value != "" {
			all = append(all, slog.String(member.name, member.value))
		}
	}
	return all
}

// Record records an act. A failure to write it does not undo the act; the log reports it.
func (a *Audit) Record(act Act) {
	if a == nil {
		return
	}
	line := AuditLine{
		Time: time.Now().UTC(), Protocol: act.Protocol, Who: Clipped(act.Who), From: act.From, What: Clipped(act.What), On: Clipped(act.On),
		Request: act.Request, Outcome: "done", Reason: Clipped(act.Refusal),
	}
	say := a.log.Info
	if act.Refusal != "" {
		line.Outcome, say = "refused", a.log.Warn
	}
	say("administrative act", slog.GroupAttrs("audit", line.attrs()...))
	a.keep(line)
	a.write(line)
}

func (a *Audit) keep(line AuditLine) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.recent) == mostRecent {
		a.recent = slices.Delete(a.recent, 0, 1)
	}
	a.recent = append(a.recent, line)
}

// Recent returns the last acts recorded since the start, up to 1,000, newest first.
func (a *Audit) Recent() []AuditLine {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	list := slices.Clone(a.recent)
	slices.Reverse(list)
	return list
}

var errNoAudit = errors.New("the file is closed")

func (a *Audit) write(line AuditLine) {
	if a.path == "" {
		return
	}
	b, err := json.Marshal(line)
	if err != nil {
		panic("protocol: a line of the audit log cannot be encoded: " + err.Error()) // plain strings: cannot happen
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err = errNoAudit; a.file != nil {
		_, err = a.file.Write(append(b, '\n'))
	}
	if err != nil && !a.failed {
		a.log.Error("audit: a line could not be written; further errors are not logged", "path", a.path, "err", err)
	}
	a.failed = err != nil
}
