package main

import (
	"os/exec"
	"slices"
	"testing"

	"fiveways.dev/fiveways/test/brokertest"
)

func TestMain(m *testing.M) { brokertest.Main(m) }

// TestRestartKeepsThePort checks that a broker has the same port after a restart: the data of
// RabbitMQ belong to a node whose name contains it.
func TestRestartKeepsThePort(t *testing.T) {
	var ports []int
	serve := serveCommand(brokertest.Binary(t), nil)
	b, err := new(peer).start(t.Context(), func(dir string, port int) (*exec.Cmd, error) {
		ports = append(ports, port)
		return serve(dir, port)
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer b.destroy()
	if _, err := b.restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(ports) != 2 || len(slices.Compact(ports)) != 1 {
		t.Errorf("ports of the two starts: %v", ports)
	}
}
