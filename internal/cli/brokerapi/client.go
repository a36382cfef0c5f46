package brokerapi

import (
	"bytes"
	"cmp"
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

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/cli/exitcode"
	"fiveways.dev/fiveways/internal/config"
	"fiveways.dev/fiveways/internal/policies"
	"fiveways.dev/fiveways/internal/protocol/httpapi"
	"fiveways.dev/fiveways/internal/protocol/pgwire"
	"fiveways.dev/fiveways/internal/semaphores"
	"fiveways.dev/fiveways/internal/server"
	"fiveways.dev/fiveways/internal/storage/vfs"

	"github.com/spf13/cobra"
)

// Verdicts are the exit codes of errors about the HTTP API and its connection, each with a hint.
var Verdicts = []exitcode.Verdict{
	{Err: ErrNoBroker, Code: exitcode.Failure, Hint: "Give its data folder with --data DIR or its address (see --help), or start one with `fiveways serve`."},
	{Err: errLogin, Code: exitcode.Failure, Hint: "The URL names the user, http://user@host:15672; its password is taken from " + config.EnvPassword + ", or asked for. `fiveways user list` shows users and their tags."},
	{Err: errForbidden, Code: exitcode.Failure, Hint: "`fiveways permission list` shows permissions, `fiveways permission set` changes them. `fiveways user tags NAME management` lets a user use the HTTP API."},
	{Err: errWantsTLS, Code: exitcode.Failure, Hint: "Its URL begins with https://; --ca FILE names a certificate to trust."},
	{Err: errNotHTTP, Code: exitcode.Failure, Hint: "The broker prints the addresses of its protocols when it starts; that of HTTP is 127.0.0.1:15672 by default."},
}

// Client is a client of a broker's HTTP API: over the admin socket of its data folder if the broker
// runs, otherwise in this process, which then holds the folder open; or over the network.
type Client struct {
	transport      http.RoundTripper
	base           string // scheme and host of the URL
	Host           string // of the URL; "" for a broker on a data folder
	user, password string // over the network; "" means no login
	Running        bool   // otherwise the folder is opened in this process
	Close          func() error
}

// folderBase is the base URL of a broker that is not reached over the network.
const folderBase = "http://broker"

// Patience is the timeout of one request.
const Patience = time.Minute

// Command adds the flags that name the broker to cmd, and makes run its action, with a client of
// the broker. If no broker runs on the data folder, the folder is opened for the duration of run.
func Command(cmd *cobra.Command, run func(cmd *cobra.Command, op *Client, args []string) error) *cobra.Command {
	return operateBy(cmd, openOperator, run)
}

// RunningCommand is Command for actions that require a running broker.
func RunningCommand(cmd *cobra.Command, run func(cmd *cobra.Command, op *Client, args []string) error) *cobra.Command {
	return operateBy(cmd, OfFolder, run)
}

// operateBy is Command with a function that opens the broker on a data folder.
func operateBy(cmd *cobra.Command, open func(config.Config) (*Client, error), run func(cmd *cobra.Command, op *Client, args []string) error) *cobra.Command {
	data := cmd.Flags().String("data", "", "data folder of the broker (default: from the configuration)")
	file := cmd.Flags().String("config", "", "TOML file with settings (or "+config.EnvFile+")")
	var at Address
	at.flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if at.URL != "" && *data != "" {
			return fmt.Errorf("%w: give --url or --data, not both: each names a broker", exitcode.ErrUsage)
		}
		if at.given() {
			op, err := Remote(cmd, at)
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
		return errors.Join(run(cmd, op, args), op.Close())
	}
	return cmd
}

// Quietly returns a client of the running broker that cmd's flags name, for completion. It prompts
// for nothing and opens no data folder.
func Quietly(cmd *cobra.Command) (*Client, error) {
	given := func(flag string) string {
		if f := cmd.Flags().Lookup(flag); f != nil {
			return f.Value.String()
		}
		return ""
	}
	if at := given("url"); strings.HasPrefix(at, "http") {
		u, err := url.Parse(at)
		if err != nil {
			return nil, err
		}
		user := cmp.Or(u.User.Username(), "guest")
		return &Client{transport: http.DefaultTransport, base: u.Scheme + "://" + u.Host, user: user, password: cmp.Or(os.Getenv(config.EnvPassword), user)}, nil
	}
	src := config.Sources{File: given("config"), Env: os.Environ(), Flags: map[string]string{}}
	if data := given("data"); data != "" {
		src.Flags["data"] = data
	}
	cfg, _, err := config.Load(src)
	if err != nil {
		return nil, err
	}
	return OfFolder(cfg)
}

// OfFolder returns a client of the broker that runs on the data folder. Errors: ErrNoBroker if none
// does.
func OfFolder(cfg config.Config) (*Client, error) {
	socket := server.AdminSocket(cfg)
	conn, err := net.Dial("unix", socket)
	if errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("admin socket: %w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cfg.Data, ErrNoBroker)
	}
	conn.Close()
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}
	return &Client{transport: &http.Transport{DialContext: dial}, base: folderBase, Running: true, Close: func() error { return nil }}, nil
}

func openOperator(cfg config.Config) (*Client, error) {
	op, err := OfFolder(cfg)
	if !errors.Is(err, ErrNoBroker) {
		return op, err
	}
	if _, err := os.Stat(cfg.Data); err != nil {
		return nil, fmt.Errorf("%s: %w, which does not exist", cfg.Data, ErrNoBroker)
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
	return &Client{transport: inProcess{httpapi.New(b, httpapi.Options{Audit: audit, Log: quiet})}, base: folderBase, Close: end}, nil
}

// ErrNoBroker means that no broker runs on the folder.
var ErrNoBroker = errors.New("no broker runs on this data folder")

// inProcess answers requests with a handler in this process.
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

// Path joins segments to a path of the API. It escapes each, so that a name with a slash, or the
// name "..", stays one segment.
func Path(segments ...string) string {
	escaped := make([]string, len(segments))
	for i, s := range segments {
		escaped[i] = Segment(s)
	}
	return "/api/" + strings.Join(escaped, "/")
}

// Segment escapes one segment of a path.
func Segment(s string) string {
	if s == "." || s == ".." {
		return strings.ReplaceAll(s, ".", "%2E")
	}
	return url.PathEscape(s)
}

// Do sends a request and decodes the answer into out. The body in is sent as JSON. Both may be nil.
// A refusal is returned as an error with the broker's reason.
func (op *Client) Do(ctx context.Context, method, path string, in, out any) error {
	return op.DoWithin(ctx, Patience, method, path, in, out)
}

// DoWithin is Do with a timeout.
func (op *Client) DoWithin(ctx context.Context, patience time.Duration, method, path string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := op.do(ctx, method, path, in, out)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("the broker has not answered within %v; it may still do what it was asked", patience)
	}
	return err
}

func (op *Client) do(ctx context.Context, method, path string, in, out any) error {
	w, err := op.Send(ctx, method, path, in)
	if err != nil {
		return err
	}
	defer w.Body.Close()
	if out == nil {
		return nil
	}
	if err := json.NewDecoder(w.Body).Decode(out); err != nil {
		return fmt.Errorf("%w: the answer is not the expected JSON", errNotHTTP)
	}
	return nil
}

// Send sends a request and returns the answer, whose body the caller closes. A refusal is an error.
func (op *Client) Send(ctx context.Context, method, path string, in any) (*http.Response, error) {
	return op.SendWith(ctx, method, path, in, nil)
}

// SendWith is Send with further headers.
func (op *Client) SendWith(ctx context.Context, method, path string, in any, header http.Header) (*http.Response, error) {
	if steps, _, _ := strings.Cut(path, "?"); strings.Contains(steps+"/", "//") {
		return nil, exitcode.Usage("a name is empty") // its path would be that of another resource
	}
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
	if err != nil {
		return nil, op.unanswered(err)
	}
	if w.StatusCode >= http.StatusMultipleChoices { // the API has no redirections
		defer w.Body.Close()
		return nil, op.refusal(ctx, w, r.URL.EscapedPath())
	}
	return w, nil
}

// unanswered returns the error of a request without a valid answer. A server of another protocol
// answers with something else, or closes the connection.
func (op *Client) unanswered(err error) error {
	if op.base == folderBase {
		return err
	}
	if strings.Contains(err.Error(), "malformed HTTP") { // net/http has no error value for it
		return fmt.Errorf("%w: what answers at %s speaks another protocol", errNotHTTP, op.base)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) {
		return fmt.Errorf("%w: %s has closed the connection", errNotHTTP, op.base)
	}
	return err
}

// Read decodes an answer of the API into out and keeps numbers as they are written.
func (op *Client) Read(ctx context.Context, path string, out any) error {
	w, err := op.Send(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	defer w.Body.Close()
	d := json.NewDecoder(w.Body)
	d.UseNumber()
	if err := d.Decode(out); err != nil {
		return fmt.Errorf("%w: the answer is not the expected JSON", errNotHTTP)
	}
	return nil
}

// refusal returns the error for an error answer to a request for a path, with its reason.
func (op *Client) refusal(ctx context.Context, w *http.Response, path string) error {
	var e struct {
		httpapi.Refusal
		Alarms []struct{ Node, Resource string } // of a failed health check
	}
	body, _ := io.ReadAll(io.LimitReader(w.Body, 1<<20)) //nolint:errcheck // a part is not JSON
	if json.Unmarshal(body, &e) != nil || e.Reason == "" {
		if bytes.Contains(body, []byte("HTTP request to an HTTPS server")) { // net/http's answer
			return fmt.Errorf("%w: %s", errWantsTLS, op.base)
		}
		return fmt.Errorf("%w: it says %s", errNotHTTP, w.Status)
	}
	for _, a := range e.Alarms {
		e.Reason += fmt.Sprintf("; %s is low on %s", a.Node, a.Resource)
	}
	switch w.StatusCode {
	case http.StatusBadRequest:
		if ofState.MatchString(e.Reason) {
			break
		}
		return fmt.Errorf("%w: %s", exitcode.ErrUsage, plainWords(e.Reason))
	case http.StatusUnauthorized:
		if noRight.MatchString(e.Reason) {
			return fmt.Errorf("%w: %s", errForbidden, e.Reason)
		}
		return fmt.Errorf("%w: %s", errLogin, e.Reason)
	case http.StatusForbidden:
		return fmt.Errorf("%w: %s", errForbidden, e.Reason)
	case http.StatusNotFound:
		if which, ok := strings.CutSuffix(e.Reason, semaphores.ErrNotFound.Error()); ok {
			return fmt.Errorf("%s%w", which, semaphores.ErrNotFound)
		}
		switch e.Reason {
		case notThere:
			return op.missing(ctx, path)
		case noVHost:
			return errors.New("no such virtual host; `fiveways vhost list` shows what there is")
		}
	}
	return errors.New(withList(plainWords(e.Reason)))
}

// noRight matches reasons for which RabbitMQ's API reports a wrong login although the login is
// right: the user lacks a tag or a permission.
var noRight = regexp.MustCompile(`^Not \w+ user$|[Uu]ser not authorised`)

// ofState matches reasons for which RabbitMQ's API reports a bad request although the command line
// is right: the state of the broker does not allow the request.
var ofState = regexp.MustCompile(`in use$|not empty$|inequivalent arg|^404 NOT_FOUND|^vhost_or_user_not_found|^no_such_user`)
