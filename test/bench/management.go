package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"fiveways.dev/fiveways/test/rabbitmq"
)

// management is a broker with a management API, started on an empty folder for one run of one case.
type management struct {
	*broker
	api     string // base URL of the API; "" if it is off
	metrics string // URL to scrape
}

// managementStarter starts a broker, watched or not. One that is not watched has no API and takes
// as few samples as possible.
type managementStarter func(ctx context.Context, watched bool) (*management, error)

// managementRunner measures one case on brokers that it opens.
type managementRunner func(ctx context.Context, open func(watched bool) (*management, error), s settings) (values, error)

// oursForManagement starts Fiveways with AMQP and, if it is watched, its API and metrics.
func oursForManagement(p *peer, binary string) managementStarter {
	return func(ctx context.Context, watched bool) (*management, error) {
		if !watched {
			m := &management{}
			return m, m.start(ctx, p, serveCommand(binary, nil, "--stats-interval", "1m"))
		}
		ports, err := freeAddresses(2)
		if err != nil {
			return nil, err
		}
		m := managementAt(ports)
		return m, m.start(ctx, p, serveCommand(binary, map[string]string{"http": ports[0], "metrics": ports[1]}))
	}
}

func managementAt(ports []string) *management {
	return &management{api: "http://" + ports[0], metrics: "http://" + ports[1] + "/metrics"}
}

// rabbitForManagement starts RabbitMQ with its plugins for management and metrics.
func rabbitForManagement(p *peer, kit *rabbitmq.Kit) managementStarter {
	return func(ctx context.Context, _ bool) (*management, error) {
		ports, err := freeAddresses(2)
		if err != nil {
			return nil, err
		}
		m := managementAt(ports)
		return m, m.start(ctx, p, func(dir string, port int) (*exec.Cmd, error) {
			cmd, err := kit.Command(dir, port, "rabbitmq_management", "rabbitmq_prometheus")
			if err != nil {
				return nil, err
			}
			conf, err := os.OpenFile(filepath.Join(dir, "rabbitmq.conf"), os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return nil, err
			}
			for i, plugin := range []string{"management", "prometheus"} {
				_, port, _ := strings.Cut(ports[i], ":")
				if _, err := fmt.Fprintf(conf, "%s.tcp.ip = 127.0.0.1\n%s.tcp.port = %s\n", plugin, plugin, port); err != nil {
					conf.Close()
					return nil, err
				}
			}
			return cmd, conf.Close()
		})
	}
}

// start runs the process and waits until AMQP and the API answer.
func (m *management) start(ctx context.Context, p *peer, command command) (err error) {
	if m.broker, err = p.start(ctx, command, nil); err != nil {
		return err
	}
	if m.api == "" {
		return nil
	}
	defer func() {
		if err != nil {
			m.destroy()
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	for {
		err := errors.Join(get(ctx, http.DefaultClient, m.api+"/api/whoami"), get(ctx, http.DefaultClient, m.metrics))
		if err == nil {
			return nil
		}
		select {
		case <-m.done:
			return fmt.Errorf("%w: %s ended: %s", errStart, p.name, m.lastOutput())
		case <-ctx.Done():
			return fmt.Errorf("%w: the API of %s: %w", errStart, p.name, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// measureManagement is measureOnce for the cases of management.
func measureManagement(ctx context.Context, c benchCase, p *peer, s settings) (values, error) {
	var opened []*management
	defer func() {
		for _, m := range opened {
			m.destroy()
		}
	}()
	return within(ctx, c, func() {}, func(ctx context.Context) (values, error) {
		return c.management(ctx, func(watched bool) (*management, error) {
			m, err := p.management(ctx, watched)
			if err != nil {
				return nil, err
			}
			opened = append(opened, m)
			context.AfterFunc(ctx, m.kill) // as within would do
			return m, nil
		}, s)
	})
}
