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
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"syscall"
	"time"

	"fiveways/internal/broker"
	"fiveways/internal/config"
	"fiveways/internal/policies"
	"fiveways/internal/protocol/httpapi"
	"fiveways/internal/protocol/pgwire"
	"fiveways/internal/semaphores"
	"fiveways/internal/server"
	"fiveways/internal/storage/vfs"

	"github.com/spf13/cobra"
)

// operator speaks the HTTP API of a broker: of the one on a data folder over its admin socket while it runs, else in this
// process, with the folder opened for as long as the command takes; or of one over the network.
type operator struct {
	transport      http.RoundTripper
	base           string // scheme and host of the URL
	user, password string // over the network; "" is nobody
	running        bool   // else the folder is opened in this process
	close          func() error
}

// folderBase stands for a broker that is reached without a network.
const folderBase = "http://broker"

// operatorPatience bounds one request.
const operatorPatience = time.Minute

// operate adds to cmd what names the broker, and makes run its action. Where no broker runs on the data folder the folder is opened.
func operate(cmd *cobra.Command, run func(cmd *cobra.Command, op *operator, args []string) error) *cobra.Command {
	return operateBy(cmd, openOperator, run)
}

// operateRunning is operate for what only a broker that runs can tell.
func operateRunning(cmd *cobra.Command, run func(cmd *cobra.Command, op *operator, args []string) error) *cobra.Command {
	return operateBy(cmd, socketOperator, run)
}

// operateBy is operate with a way to the broker on a data folder.
func operateBy(cmd *cobra.Command, open func(config.Config) (*operator, error), run func(cmd *cobra.Command, op *operator, args []string) error) *cobra.Command {
	data := cmd.Flags().String("data", "", "data folder of the broker (default: as the configuration says)")
	file := cmd.Flags().String("config", "", "TOML file with settings (or "+config.EnvFile+")")
	var at address
	at.flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if at.url != "" && *data != "" {
			return fmt.Errorf("%w: --url and --data name two brokers", errUsage)
		}
		if at.given() {
			op, err := remoteOperator(cmd, at)
			if err != nil {
				return err
			}
			return run(cmd, op, args)
		}
		src := config.Sources{File: *file, Env: os.Environ(), Flags: map[string]string{}}
		if *data != "" {
			src.Flags["data"] = *data
		}
		cfg, _, err := config.Load(src)
		if err != nil {
			return err
		}
		op, err := open(cfg)
		if err != nil {
			return err
		}
		return errors.Join(run(cmd, op, args), op.close())
	}
	return cmd
}

// socketOperator speaks to the broker that runs on the data folder; without one it is errNoBroker.
func socketOperator(cfg config.Config) (*operator, error) {
	socket := server.AdminSocket(cfg)
	conn, err := net.Dial("unix", socket)
	if errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("admin socket: %w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("no broker runs on %s: %w", cfg.Data, errNoBroker)
	}
	conn.Close()
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}
	return &operator{transport: &http.Transport{DialContext: dial}, base: folderBase, running: true, close: func() error { return nil }}, nil
}

func openOperator(cfg config.Config) (*operator, error) {
	op, err := socketOperator(cfg)
	if !errors.Is(err, errNoBroker) {
		return op, err
	}
	if _, err := os.Stat(cfg.Data); err != nil {
		return nil, fmt.Errorf("no broker runs on %s, and there is no such folder: %w", cfg.Data, errNoBroker)
	}
	quiet := slog.New(slog.DiscardHandler)
	b, err := broker.Open(vfs.OS{}, cfg.Data, broker.Options{Logger: quiet, DiskFreeLimit: -1, Conditions: pgwire.Conditions(), Order: pgwire.OrderOf, Policies: policies.Engine{}})
	if errors.Is(err, vfs.ErrLocked) {
		return nil, fmt.Errorf("data: %s: %w, and its admin socket %s does not answer", cfg.Data, server.ErrLocked, server.AdminSocket(cfg))
	}
	if err != nil {
		return nil, fmt.Errorf("data: %s: %w", cfg.Data, err)
	}
	audit, err := server.OpenAudit(cfg, quiet)
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	end := func() error { return errors.Join(b.Close(), audit.Close()) }
	return &operator{transport: inProcess{httpapi.New(b, httpapi.Options{Audit: audit, Log: quiet})}, base: folderBase, close: end}, nil
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
	escaped := make([]string, len(segments))
	for i, s := range segments {
		escaped[i] = segment(s)
	}
	return "/api/" + strings.Join(escaped, "/")
}

// segment escapes one step of a path.
func segment(s string) string {
	if s == "." || s == ".." {
		return strings.ReplaceAll(s, ".", "%2E")
	}
	return url.PathEscape(s)
}

// do sends a request with in as its JSON body, nil for none, and decodes the answer into out, nil for none. A refusal
// is an error with the reason that the broker gave.
func (op *operator) do(ctx context.Context, method, path string, in, out any) error {
	return op.doWithin(ctx, operatorPatience, method, path, in, out)
}

// doWithin is do with a bound for how long it may take.
func (op *operator) doWithin(ctx context.Context, patience time.Duration, method, path string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	w, err := op.send(ctx, method, path, in)
	if err != nil {
		return err
	}
	defer w.Body.Close()
	if out == nil {
		return nil
	}
	if err := json.NewDecoder(w.Body).Decode(out); err != nil {
		return fmt.Errorf("%w: %w", errNotHTTP, err)
	}
	return nil
}

// send sends a request and returns an answer that is no refusal, whose body the caller closes.
func (op *operator) send(ctx context.Context, method, path string, in any) (*http.Response, error) {
	return op.sendWith(ctx, method, path, in, nil)
}

// sendWith is send with further headers.
func (op *operator) sendWith(ctx context.Context, method, path string, in any, header http.Header) (*http.Response, error) {
	body := io.Reader(http.NoBody)
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(b)
	}
	r, err := http.NewRequestWithContext(ctx, method, op.base+path, body)
	if err != nil {
		return nil, err
	}
	maps.Copy(r.Header, header)
	if in != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if op.user != "" {
		r.SetBasicAuth(op.user, op.password)
	}
	w, err := op.transport.RoundTrip(r)
	if errors.Is(err, syscall.ECONNREFUSED) && op.base == folderBase {
		return nil, fmt.Errorf("the broker has stopped: %w", err)
	}
	if err != nil && strings.Contains(err.Error(), "malformed HTTP response") { // net/http has no name for it
		return nil, fmt.Errorf("%w: %w", errNotHTTP, err)
	}
	if err != nil {
		return nil, err
	}
	if w.StatusCode >= http.StatusMultipleChoices { // the API sends nobody elsewhere
		defer w.Body.Close()
		return nil, refusal(w, r.URL.EscapedPath())
	}
	return w, nil
}

// refusal reads the reason out of an answer to a request for a path that is an error.
func refusal(w *http.Response, path string) error {
	var e httpapi.Refusal
	if json.NewDecoder(io.LimitReader(w.Body, 1<<20)).Decode(&e) != nil || e.Reason == "" {
		return fmt.Errorf("%w: it says %s", errNotHTTP, w.Status)
	}
	switch w.StatusCode {
	case http.StatusBadRequest:
		if ofState.MatchString(e.Reason) {
			break
		}
		return fmt.Errorf("%w: %s", errUsage, plainWords(e.Reason))
	case http.StatusUnauthorized:
		return fmt.Errorf("%w: %s", errLogin, e.Reason)
	case http.StatusForbidden:
		return fmt.Errorf("%w: %s", errForbidden, e.Reason)
	case http.StatusNotFound:
		if which, ok := strings.CutSuffix(e.Reason, semaphores.ErrNotFound.Error()); ok {
			return fmt.Errorf("%s%w", which, semaphores.ErrNotFound)
		}
		switch e.Reason {
		case notThere:
			return missing(path)
		case noVHost:
			return errors.New("no such virtual host; `fiveways vhost list` shows what there is")
		}
	}
	return errors.New(plainWords(e.Reason))
}

// ofState matches what RabbitMQ's API calls a bad request, though nothing is wrong with it: the broker is in a state in which it cannot be.
var ofState = regexp.MustCompile(`in use$|not empty$|inequivalent arg|^404 NOT_FOUND|^vhost_or_user_not_found`)
