package rabbitmq

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"fiveways.dev/fiveways/test/daemon"
)

// Options are the options of a Node. A zero value means the default in brackets.
type Options struct {
	AMQP, HTTP int      // ports of 127.0.0.1 for clients and for management [free ones]
	Plugins    []string // besides rabbitmq_management
	Settings   []string // further lines of rabbitmq.conf
}

// Node is a running RabbitMQ with its management API.
type Node struct {
	*daemon.Server
	kit  *Kit
	dir  string
	port int

	AMQPAddr, HTTPAddr string // host:port
}

// Serve starts a node, and returns once it answers clients and requests. It returns ErrNone if
// there is no RabbitMQ.
func Serve(o Options) (*Node, error) {
	kit, err := Open()
	if err != nil {
		return nil, err
	}
	n := &Node{kit: kit}
	n.Server, err = daemon.Serve("fiveways-rabbitmq-", func(dir string) (*exec.Cmd, error) { return n.command(dir, o) }, n.ready)
	if err != nil {
		kit.Close()
		return nil, err
	}
	return n, nil
}

// command chooses new ports each time: a node that exited at once may have found a port taken.
func (n *Node) command(dir string, o Options) (*exec.Cmd, error) {
	management := o.HTTP
	n.port = o.AMQP
	for _, port := range []*int{&n.port, &management} {
		if *port != 0 {
			continue
		}
		var err error
		if *port, err = daemon.FreePort(); err != nil {
			return nil, err
		}
	}
	n.AMQPAddr, n.HTTPAddr = fmt.Sprintf("127.0.0.1:%d", n.port), fmt.Sprintf("127.0.0.1:%d", management)
	n.dir = filepath.Join(dir, "node") // the folder has the log of the process
	if err := os.MkdirAll(n.dir, 0o700); err != nil {
		return nil, err
	}
	cmd, err := n.kit.Command(n.dir, n.port, append([]string{"rabbitmq_management"}, o.Plugins...)...)
	if err != nil {
		return nil, err
	}
	conf, err := os.OpenFile(filepath.Join(n.dir, "rabbitmq.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	settings := append([]string{"management.tcp.ip = 127.0.0.1", fmt.Sprintf("management.tcp.port = %d", management)}, o.Settings...)
	_, err = fmt.Fprintln(conf, strings.Join(settings, "\n"))
	return cmd, errors.Join(err, conf.Close())
}

// ready returns nil once clients and requests are answered.
func (n *Node) ready() error {
	r, err := http.NewRequest(http.MethodGet, "http://"+n.HTTPAddr+"/api/health/checks/virtual-hosts", nil)
	if err != nil {
		return err
	}
	r.SetBasicAuth("guest", "guest")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	answer.Body.Close() //nolint:errcheck // it was not read
	if answer.StatusCode != http.StatusOK {
		return errors.New("rabbitmq: " + answer.Status)
	}
	c, err := net.Dial("tcp", n.AMQPAddr)
	if err != nil {
		return err
	}
	return c.Close()
}

// Ctl runs rabbitmqctl on the node and returns its output.
func (n *Node) Ctl(args ...string) (string, error) { return n.kit.Ctl(n.dir, n.port, args...) }

// Close ends the node and its port mapper. It may be called repeatedly.
func (n *Node) Close() {
	n.Server.Close()
	n.kit.Close()
}

// Name returns the name of the node, as its management API shows it.
func (n *Node) Name() string { return nodeName(n.port) }
