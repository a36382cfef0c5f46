package soak

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// ask sends a request to the management API at addr as guest. A body that is not nil is sent as
// JSON, and the answer is decoded into to unless that is nil. A status of 400 or more is an error.
func ask(ctx context.Context, addr, method, path string, body, to any) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		sent = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://"+addr+path, sent)
	if err != nil {
		return err
	}
	req.SetBasicAuth("guest", "guest")
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return err
	case resp.StatusCode >= 400:
		return fmt.Errorf("%s %s: %s %s", method, path, resp.Status, text)
	case to != nil:
		return json.Unmarshal(text, to)
	}
	return nil
}
