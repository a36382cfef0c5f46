package suites

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ctl runs a rabbitmqctl command on the broker under test and returns its output.
type ctl func(args ...string) (string, error)

// ctlSocket is the environment variable that holds the path of the socket on which a test serves
// rabbitmqctl commands. Where it is set, the test binary acts as rabbitmqctl.
const ctlSocket = "SUITES_RABBITMQCTL"

// ctlAnswer is the output of a command, or the reason why it failed.
type ctlAnswer struct{ Output, Failure string }

// serveCtl serves the suite's rabbitmqctl commands, one at a time, until the test ends. It returns
// the environment variables that the suite needs.
func serveCtl(t *testing.T, run ctl) (env []string, err error) {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "suites-") // short, because it holds a socket
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "ctl")
	l, err := net.Listen("unix", socket)
	if err != nil {
		return nil, err
	}
	done := make(chan struct{})
	t.Cleanup(func() {
		l.Close()
		<-done
	})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			answerCtl(c, run)
		}
	}()
	return []string{ctlSocket + "=" + socket, "RABBITMQCTL=" + binary}, nil
}

// answerCtl serves one command. It ignores the node name: there is one node.
func answerCtl(c net.Conn, run ctl) {
	defer c.Close()
	var args []string
	if err := json.NewDecoder(c).Decode(&args); err != nil {
		return
	}
	if len(args) > 1 && args[0] == "-n" {
		args = args[2:]
	}
	var a ctlAnswer
	var err error
	if a.Output, err = run(args...); err != nil {
		a.Failure = err.Error()
	}
	json.NewEncoder(c).Encode(a) //nolint:errcheck // nothing to do if the caller is gone
}

// callCtl is the main function of rabbitmqctl. It returns the exit code.
func callCtl(socket string, args []string) int {
	a, err := askCtl(socket, args)
	if err != nil {
		a.Failure = err.Error()
	}
	if a.Failure != "" {
		fmt.Fprintln(os.Stderr, a.Failure)
		return 1
	}
	if fmt.Print(a.Output); a.Output != "" && !strings.HasSuffix(a.Output, "\n") {
		fmt.Println()
	}
	return 0
}

func askCtl(socket string, args []string) (a ctlAnswer, err error) {
	c, err := net.Dial("unix", socket)
	if err != nil {
		return a, err
	}
	defer c.Close()
	if err := json.NewEncoder(c).Encode(args); err != nil {
		return a, err
	}
	return a, json.NewDecoder(c).Decode(&a)
}
