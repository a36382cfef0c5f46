package redisd

import (
	"net"
	"os"
	"strings"
	"testing"
)

func TestServerEndsWithItsFolder(t *testing.T) {
	Start(t, Options{}) // skips if Redis is missing
	s, err := Open(Options{Sync: "always"})
	if err != nil {
		t.Fatal(err)
	}
	if v, err := Version(); err != nil || !strings.Contains(v, ".") {
		t.Errorf("version %q, %v", v, err)
	}
	if !strings.Contains(s.Log(), "Ready to accept connections") {
		t.Errorf("log %q", s.Log())
	}
	s.Close()
	s.Close()
	if _, err := net.Dial("tcp", s.Addr()); err == nil {
		t.Error("it still listens")
	}
	if _, err := os.Stat(s.Dir()); !os.IsNotExist(err) {
		t.Errorf("its folder is there: %v", err)
	}
	if _, err := Open(Options{Settings: []string{"--no-such-setting", "1"}}); err == nil || !strings.Contains(err.Error(), "no-such-setting") {
		t.Errorf("a wrong setting: %v", err)
	}
}
