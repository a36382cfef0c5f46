package oracle

// Node is a RabbitMQ 3.10 node on a free port, for other tests that compare with it.
type Node struct{ r *rabbit }

// StartRabbitMQ starts a Node that keeps all its data in dir. The caller stops it.
func StartRabbitMQ(dir string) (*Node, error) {
	r, err := startRabbit(dir)
	if err != nil {
		return nil, err
	}
	return &Node{r}, nil
}

// Addr returns the host:port on which AMQP is served.
func (n *Node) Addr() string { return n.r.addr }

// Ctl runs rabbitmqctl on the node and returns its output.
func (n *Node) Ctl(args ...string) (string, error) { return n.r.kit.Ctl(n.r.dir, n.r.port, args...) }

// Stop kills the node.
func (n *Node) Stop() { n.r.stop() }
