package oracle

// StartRabbitMQ starts a RabbitMQ 3.10 node of its own on a free port, with all it keeps in dir, for other tests that
// compare with it. stop kills it. The error says so where there is none to start.
func StartRabbitMQ(dir string) (addr string, stop func(), err error) {
	r, err := startRabbit(dir)
	if err != nil {
		return "", nil, err
	}
	return r.addr, r.stop, nil
}
