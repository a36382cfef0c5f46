package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"fiveways/internal/broker"
	"fiveways/internal/config"
	"fiveways/internal/protocol/httpapi"
	"fiveways/internal/protocol/pgwire"
	"fiveways/internal/server"
	"fiveways/internal/storage/vfs"

	"github.com/spf13/cobra"
)

// operator speaks the HTTP API of the broker on one data folder: over its admin socket while it runs, else in this
// process, with the folder opened for as long as the command takes.
type operator struct {
	transport http.RoundTripper
	close     func() error
}

// operatorPatience bounds one request.
const operatorPatience = time.Minute

// operate adds to cmd what names the broker, and makes run its action.
func operate(cmd *cobra.Command, run func(cmd *cobra.Command, op *operator, args []string) error) *cobra.Command {
	data := cmd.Flags().String("data", "", "data folder of the broker (default: as the configuration says)")
	file := cmd.Flags().String("config", "", "TOML file with settings (or "+config.EnvFile+")")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		src := config.Sources{File: *file, Env: os.Environ(), Flags: map[string]string{}}
		if *data != "" {
			src.Flags["data"] = *data
		}
		cfg, _, err := config.Load(src)
		if err != nil {
			return err
		}
		op, err := openOperator(cfg)
		if err != nil {
			return err
		}
		return errors.Join(run(cmd, op, args), op.close())
	}
	return cmd
}

func openOperator(cfg config.Config) (*operator, error) {
	socket := server.AdminSocket(cfg)
	if conn, err := net.Dial("unix", socket); err == nil {
		conn.Close()
		dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		}
		return &operator{transport: &http.Transport{DialContext: dial}, close: func() error { return nil }}, nil
	} else if errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("admin socket: %w", err)
	}
	if _, err := os.Stat(cfg.Data); err != nil {
		return nil, fmt.Errorf("no broker runs on %s, and there is no such folder: %w", cfg.Data, errNoBroker)
	}
	quiet := slog.New(slog.DiscardHandler)
	b, err := broker.Open(vfs.OS{}, cfg.Data, broker.Options{Logger: quiet, DiskFreeLimit: -1, Conditions: pgwire.Conditions(), Order: pgwire.OrderOf})
	if errors.Is(err, vfs.ErrLocked) {
		return nil, fmt.Errorf("data: %s: %w, and its admin socket %s does not answer", cfg.Data, server.ErrLocked, socket)
	}
	if err != nil {
		return nil, fmt.Errorf("data: %s: %w", cfg.Data, err)
	}
	return &operator{transport: inProcess{httpapi.New(b, httpapi.Options{Log: quiet})}, close: b.Close}, nil
}

// errNoBroker tells that there is nothing to operate on.
var errNoBroker = errors.New("no broker found")

// inProcess answers requests by a handler of this process.
type inProcess struct{ handler http.Handler }

func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	w := &reply{header: http.Header{}, status: http.StatusOK}
	p.handler.ServeHTTP(w, r)
	return &http.Response{StatusCode: w.status, Header: w.header, Body: io.NopCloser(&w.body), Request: r}, nil
}

// reply is a response in memory.
type reply struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *reply) Header() http.Header         { return w.header }
func (w *reply) WriteHeader(status int)      { w.status = status }
func (w *reply) Write(b []byte) (int, error) { return w.body.Write(b) }

// path joins segments to a path of the API, each escaped, also those that would be taken for steps in it.
func path(segments ...string) string {
	for i, s := range segments {
		if segments[i] = url.PathEscape(s); s == "." || s == ".." {
			segments[i] = strings.ReplaceAll(s, ".", "%2E")
		}
	}
	return "/api/" + strings.Join(segments, "/")
}

// do sends a request with in as its JSON body, nil for none, and decodes the answer into out, nil for none. A refusal
// is an error with the reason that the broker gave.
func (op *operator) do(ctx context.Context, method, path string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, operatorPatience)
	defer cancel()
	body := io.Reader(http.NoBody)
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(b)
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://broker"+path, body)
	if err != nil {
		return err
	}
	w, err := op.transport.RoundTrip(r)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("the broker has stopped: %w", err)
	}
	if err != nil {
		return err
	}
	defer w.Body.Close()
	if w.StatusCode >= http.StatusMultipleChoices { // the API sends nobody elsewhere
		return refusal(w)
	}
	if out == nil {
		return nil
	}
	return json.NewDecoder(w.Body).Decode(out)
}

// refusal reads the reason out of an answer that is an error.
func refusal(w *http.Response) error {
	var e httpapi.Refusal
	if json.NewDecoder(io.LimitReader(w.Body, 1<<20)).Decode(&e) != nil || e.Reason == "" {
		return fmt.Errorf("the broker refuses: %s", http.StatusText(w.StatusCode))
	}
	if w.StatusCode == http.StatusBadRequest {
		return fmt.Errorf("%w: %s", errUsage, e.Reason)
	}
	return errors.New(e.Reason)
}
