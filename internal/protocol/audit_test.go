package protocol

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/logtest"
)

func TestAudit(t *testing.T) {
	var log logtest.Text
	path := filepath.Join(t.TempDir(), "audit.log")
	a, err := OpenAudit(path, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	a.Record(Act{Protocol: "http", Who: "alice", From: "192.0.2.1:99", What: "PUT", On: "/api/users/bob", Request: "r1"})
	a.Record(Act{Protocol: "etcd", Who: strings.Repeat("x", 1000) + "\n", What: "user added", On: "bob", Refusal: "permission denied"})
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	if err := a.Reopen(); err != nil {
		t.Fatal(err)
	}
	a.Record(Act{Protocol: "http", Who: "operator", What: "DELETE", On: "/api/vhosts/v"})
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	a.Record(Act{What: "after the end"})
	a.Record(Act{What: "after the end"})

	lines := linesOf(t, path+".1")
	if len(lines) != 2 || lines[0].Who != "alice" || lines[0].Outcome != "done" || lines[0].On != "/api/users/bob" || lines[0].Time.IsZero() {
		t.Errorf("%+v", lines)
	}
	if lines[1].Outcome != "refused" || lines[1].Reason != "permission denied" || len(lines[1].Who) > 300 {
		t.Errorf("%+v", lines[1])
	}
	if lines = linesOf(t, path); len(lines) != 1 || lines[0].Who != "operator" {
		t.Errorf("after reopening: %+v", lines)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if n := strings.Count(log.String(), "could not be written"); n != 1 {
		t.Errorf("the log tells %d times that lines are lost", n)
	}
	if !strings.Contains(log.String(), "audit.who=alice") {
		t.Errorf("%s", &log)
	}
}

func linesOf(t *testing.T, path string) (all []AuditLine) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		var l AuditLine
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatal(err)
		}
		all = append(all, l)
	}
	return all
}

// TestRecentActs checks that the last acts stay in memory, newest first.
func TestRecentActs(t *testing.T) {
	a, err := OpenAudit("", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for i := range mostRecent + 5 {
		a.Record(Act{Who: "alice", What: "PUT", On: strconv.Itoa(i)})
	}
	list := a.Recent()
	if len(list) != mostRecent || list[0].On != strconv.Itoa(mostRecent+4) || list[mostRecent-1].On != "5" {
		t.Errorf("%d acts, from %+v to %+v", len(list), list[0], list[len(list)-1])
	}
}

func TestAuditNowhere(t *testing.T) {
	var none *Audit
	none.Record(Act{})
	if none.Reopen() != nil || none.Close() != nil || none.Recent() != nil {
		t.Error("no audit log fails")
	}
	if _, err := OpenAudit(t.TempDir(), slog.New(slog.DiscardHandler)); err == nil {
		t.Error("a folder is no file")
	}
}
