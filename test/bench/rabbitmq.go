package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// debianRabbit is the start script itself: the one in /usr/sbin changes the user and keeps a shell between us and the broker.
const debianRabbit = "/usr/lib/rabbitmq/bin/rabbitmq-server"

var errNoRabbit = errors.New("bench: no rabbitmq-server here (--install asks apt-get for it)")

// rabbitmq finds RabbitMQ, installing Debian's when asked to, and starts a port mapper (epmd) of its own: the one of the system is
// neither used nor left behind.
func rabbitmq(install bool) (*peer, error) {
	script, err := findRabbit()
	if errors.Is(err, errNoRabbit) && install {
		apt := exec.Command("apt-get", "install", "-y", "--no-install-recommends", "rabbitmq-server")
		apt.Env = append(apt.Environ(), "DEBIAN_FRONTEND=noninteractive")
		apt.Stdout, apt.Stderr = os.Stderr, os.Stderr
		if err := apt.Run(); err != nil {
			return nil, fmt.Errorf("bench: apt-get install rabbitmq-server: %w", err)
		}
		script, err = findRabbit()
	}
	if err != nil {
		return nil, err
	}
	epmdPort, err := freePort()
	if err != nil {
		return nil, err
	}
	epmd, err := startPortMapper(epmdPort)
	if err != nil {
		return nil, err
	}
	return &peer{
		name: nameRabbit,
		command: func(dir string, port int) (*exec.Cmd, error) {
			if err := writeRabbitConfig(dir, port); err != nil {
				return nil, err
			}
			cmd := exec.Command(script)
			cmd.Env = append(os.Environ(), rabbitEnv(dir, epmdPort)...)
			return cmd, nil
		},
		close: func() {
			epmd.Process.Kill()
			epmd.Wait() // it was killed: the status says so
		},
	}, nil
}

func findRabbit() (string, error) {
	if _, err := os.Stat(debianRabbit); err == nil {
		return debianRabbit, nil
	}
	if path, err := exec.LookPath("rabbitmq-server"); err == nil {
		return path, nil
	}
	return "", errNoRabbit
}

// startPortMapper runs epmd in the foreground and waits until it listens.
func startPortMapper(port int) (*exec.Cmd, error) {
	cmd := exec.Command("epmd", "-port", fmt.Sprint(port), "-address", "127.0.0.1")
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("bench: start epmd: %w", err)
	}
	for range 1000 {
		n, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			return cmd, n.Close()
		}
		time.Sleep(10 * time.Millisecond)
	}
	cmd.Process.Kill()
	cmd.Wait() // it was killed: the status says so
	return nil, errors.New("bench: epmd does not listen")
}

func writeRabbitConfig(dir string, port int) error {
	conf := fmt.Sprintf("listeners.tcp.1 = 127.0.0.1:%d\nlog.console = false\nlog.file.level = error\n", port)
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "rabbitmq.conf"), []byte(conf), 0o644),
		os.WriteFile(filepath.Join(dir, "enabled_plugins"), []byte("[].\n"), 0o644),
		os.WriteFile(filepath.Join(dir, "env.conf"), nil, 0o644))
}

// rabbitEnv keeps all that a node reads or writes inside dir.
func rabbitEnv(dir string, epmdPort int) []string {
	return []string{
		"HOME=" + dir, // the Erlang cookie
		fmt.Sprintf("ERL_EPMD_PORT=%d", epmdPort),
		"RABBITMQ_NODENAME=bench-" + filepath.Base(dir) + "@localhost",
		"RABBITMQ_CONF_ENV_FILE=" + filepath.Join(dir, "env.conf"),
		"RABBITMQ_CONFIG_FILE=" + filepath.Join(dir, "rabbitmq.conf"),
		"RABBITMQ_ENABLED_PLUGINS_FILE=" + filepath.Join(dir, "enabled_plugins"),
		"RABBITMQ_MNESIA_BASE=" + filepath.Join(dir, "mnesia"),
		"RABBITMQ_LOG_BASE=" + filepath.Join(dir, "log"),
		"RUNNING_UNDER_SYSTEMD=true", // the script then becomes the broker instead of waiting for it
	}
}
