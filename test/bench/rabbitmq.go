package main

import (
	"os"
	"os/exec"

	"fiveways.dev/fiveways/test/rabbitmq"
)

// rabbitPeer is RabbitMQ, installed when that is asked for. The error is rabbitmq.ErrNone where
// there is none.
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
