package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"fiveways.dev/fiveways/internal/bench/latency"
	"fiveways.dev/fiveways/internal/bench/parallel"
)

// httpQueue is the queue of the HTTP cases.
const httpQueue = "published"

// httpMessage is a message of 100 bytes in the form of RabbitMQ's API.
var httpMessage = `{"properties":{"delivery_mode":2},"routing_key":"` + httpQueue + `","payload":"` + strings.Repeat("x", 100) +
	`","payload_encoding":"string"}`

// httpPublish measures clients that publish, and wait for the answer to each message.
func httpPublish(clients int) managementRunner {
	return func(ctx context.Context, open func(bool) (*management, error), s settings) (values, error) {
		m, err := open(true)
		if err != nil {
			return nil, err
		}
		if err := m.declare(httpQueue); err != nil {
			return nil, err
		}
		began := time.Now()
		var seconds float64
		var took *latency.Histogram
		cpu, err := cpuDuring(m.cpu, func() (err error) {
			took, err = m.publishAll(ctx, clients, began.Add(s.duration))
			seconds = time.Since(began).Seconds()
			return err
		})
		if err != nil {
			return nil, err
		}
		n := took.Count()
		return values{"rate": float64(n) / seconds, "p50": took.Millis(0.5), "p99": took.Millis(0.99), "cpu": microsEach(cpu, int64(n))}, nil
	}
}

// declare declares a durable queue.
func (m *management) declare(queue string) error {
	k, err := dialChannel(m.addr)
	if err != nil {
		return err
	}
	defer k.Close()
	return k.declareQueue(queue, true)
}

// publishAll publishes until deadline and returns how long the requests took.
func (m *management) publishAll(ctx context.Context, clients int, deadline time.Time) (*latency.Histogram, error) {
	client := http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	defer client.CloseIdleConnections()
	took := make([]latency.Histogram, clients)
	err := parallel.Do(ctx, clients, func(ctx context.Context, i int) error {
		for from := time.Now(); from.Before(deadline); {
			if err := m.publishOne(ctx, &client); err != nil {
				return err
			}
			now := time.Now()
			took[i].Record(now.Sub(from))
			from = now
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range took[1:] {
		took[0].Merge(&took[i+1])
	}
	return &took[0], nil
}

func (m *management) publishOne(ctx context.Context, client *http.Client) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, m.api+"/api/exchanges/%2F/amq.default/publish", strings.NewReader(httpMessage))
	if err != nil {
		return err
	}
	r.SetBasicAuth("guest", "guest")
	r.Header.Set("Content-Type", "application/json")
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && string(bytes.TrimSpace(text)) != `{"routed":true}` {
		err = fmt.Errorf("bench: publish over HTTP: %s: %s", answer.Status, text)
	}
	return err
}

func httpCases() (all []benchCase) {
	for _, clients := range []int{1, 16} {
		all = append(all, benchCase{name: fmt.Sprintf("management-publish-%d", clients), title: "publish of 100 B persistent over HTTP, " + clientsText(clients),
			management: httpPublish(clients), floor: true, metrics: []metric{
				{name: "rate", unit: "msg/s", more: true}, {name: "p50", unit: "ms"}, {name: "p99", unit: "ms"}, {name: "cpu", unit: "µs/msg"}}})
	}
	return all
}
