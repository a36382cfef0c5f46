package main

import (
	"os"
	"os/exec"

	"fiveways.dev/fiveways/test/rabbitmq"
)

// rabbitPeer returns the peer of RabbitMQ, and installs it if requested. It returns
// rabbitmq.ErrNone if there is none.
func rabbitPeer(install bool) (*peer, error) {
	if install {
		if err := rabbitmq.Install(os.Stderr); err != nil {
			return nil, err
		}
	}
	kit, err := rabbitmq.Open()
	if err != nil {
		return nil, err
	}
	p := &peer{
		name:    nameRabbit,
		command: func(dir string, port int) (*exec.Cmd, error) { return kit.Command(dir, port) },
		close:   kit.Close,
	}
	p.management = rabbitForManagement(p, kit)
	return p, nil
}
