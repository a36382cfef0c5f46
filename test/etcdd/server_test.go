package etcdd

import (
	"net"
	"os"
	"strings"
	"testing"
)

func TestServerEndsWithItsFolder(t *testing.T) {
	Start(t) // skips if etcd is missing
	s, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	if v, err := Version(); err != nil || !strings.Contains(v, ".") {
		t.Errorf("version %q, %v", v, err)
	}
	if err := s.healthy(); err != nil {
		t.Error(err)
	}
	s.Close()
	s.Close()
	if _, err := net.Dial("tcp", s.Addr()); err == nil {
		t.Error("it still listens")
	}
	if _, err := os.Stat(s.Dir()); !os.IsNotExist(err) {
		t.Errorf("its folder is there: %v", err)
	}
	if _, err := Open("--no-such-setting"); err == nil || !strings.Contains(err.Error(), "no-such-setting") {
		t.Errorf("a wrong setting: %v", err)
	}
}
