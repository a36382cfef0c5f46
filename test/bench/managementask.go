package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"
)

// question is a request that is repeated.
type question struct {
	name  string // of its metrics
	url   string
	every time.Duration
	took  []time.Duration
}

// pageQuery is the query for the web page's charts: ten minutes of history.
const pageQuery = "?lengths_age=600&lengths_incr=5&msg_rates_age=600&msg_rates_incr=5"

// firstPage is the list of queues as the page opens it.
const firstPage = "/api/queues?page=1&page_size=100"

// ask sends the request as guest, reads the answer and records how long it took.
func (q *question) ask(ctx context.Context, client *http.Client) error {
	start := time.Now()
	err := get(ctx, client, q.url)
	if err == nil || ctx.Err() != nil && len(q.took) == 0 { // no answer came: it took longer than this
		q.took = append(q.took, time.Since(start))
	}
	return err
}

// get sends a GET request as guest and reads the answer.
func get(ctx context.Context, client *http.Client, url string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	r.SetBasicAuth("guest", "guest")
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("bench: GET %s: %s", url, answer.Status)
	}
	return nil
}

// askOn lets members of the crew send the requests until stop is called, which waits for them.
func askOn(ctx context.Context, c *crew, questions []*question) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	for _, q := range questions {
		c.work(func() error {
			defer func() { ended <- struct{}{} }()
			return q.repeat(ctx)
		})
	}
	return func() {
		cancel()
		for range questions {
			<-ended
		}
	}
}

// repeat sends the request at a fixed rate, or more slowly if answers take longer.
func (q *question) repeat(ctx context.Context) error {
	tick := time.NewTicker(q.every)
	defer tick.Stop()
	for {
		if err := q.ask(ctx, http.DefaultClient); ctx.Err() != nil {
			return nil
		} else if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// percentiles adds the p50 and p99 of the answers in ms.
func (q *question) percentiles(v values) {
	slices.Sort(q.took)
	v[q.name+" p50"] = atMille(q.took, 500).Seconds() * 1000
	v[q.name+" p99"] = atMille(q.took, 990).Seconds() * 1000
}
