package serving

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"fiveways.dev/fiveways/internal/cli/exitcode"
	"fiveways.dev/fiveways/internal/config"
	"fiveways.dev/fiveways/internal/server"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/spf13/cobra"
	"google.golang.org/grpc/grpclog"
)

// Verdicts are the exit codes of errors about settings and addresses, each with a hint.
var Verdicts = []exitcode.Verdict{
	{Err: config.ErrInvalid, Code: exitcode.WrongUsage, Hint: "`fiveways config` shows each setting and where it came from; `fiveways serve --help` explains them."},
	{Err: server.ErrAddrInUse, Code: exitcode.InUse, Hint: "Stop the program that uses the address (another broker, perhaps), or choose another address for the protocol: --amqp HOST:PORT, --sql HOST:PORT, --redis HOST:PORT, --etcd HOST:PORT, --http HOST:PORT, --metrics HOST:PORT (port 0 takes a free one), or off."},
	{Err: server.ErrCluster, Code: exitcode.WrongUsage, Hint: "`fiveways cluster --help` tells how to create a cluster, and how nodes join."},
	{Err: server.ErrLocked, Code: exitcode.InUse, Hint: "Stop the broker that uses the folder, or choose another one with --data DIR."},
}

// ServeCommand returns `fiveways serve`.
func ServeCommand(version string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "run the broker",
		Long: `Runs the broker until it is stopped, and prints each address it serves with a command to try.

Every setting below is also a key of the TOML file and an environment variable: --memory-limit 1GiB is
memory_limit = "1GiB" and FIVEWAYS_MEMORY_LIMIT=1GiB. A flag overrides the environment, the environment overrides the file.

SIGTERM or Ctrl-C drains: it stops accepting, answers outstanding confirms and closes politely, within drain_timeout.
A second signal stops at once; nothing confirmed is lost by that. SIGHUP reloads the certificate and reopens the audit log.`,
		Example: `  fiveways serve
  fiveways serve --data /var/lib/fiveways --amqp 0.0.0.0:5672
  fiveways serve --config /etc/fiveways.toml --http off
  FIVEWAYS_SYNC=os fiveways serve`,
		Args: cobra.NoArgs,
	}
	load := settings(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		cfg, _, err := load()
		if err != nil {
			return err
		}
		return serve(cmd.Context(), version, cfg, cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
	return cmd
}

func serve(ctx context.Context, version string, cfg config.Config, stdout, stderr io.Writer) error {
	gc := newCollector(ctx, cfg)
	// gRPC's library would log clients' invalid input in its own format and without a limit.
	grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, io.Discard, io.Discard))
	log := NewLogger(cfg, stderr)
	// A hangup during the start must not end it: the files are reloaded once the broker serves.
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)

	srv, err := server.Start(cfg, version, log)
	if err != nil {
		return err
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)

	tell := func(text string) { fmt.Fprintln(stdout, text) }
	if cfg.LogFormat == "json" { // then every line is JSON
		tell = func(text string) { log.Info(text) }
		log.Info("serving", "version", version, "data", cfg.Data, "sync", cfg.Sync, addresses(srv.Endpoints()))
	} else {
		banner(stdout, version, cfg, srv.Endpoints())
	}
	notify(daemon.SdNotifyReady)
	failed := awaitEnd(ctx, signals, hangups, srv, func() { gc.limit(srv.Kept()) })
	notify(daemon.SdNotifyStopping)
	tell(fmt.Sprintf("Draining for at most %s; a second signal stops at once.", cfg.DrainTimeout))
	// The caller's context may have ended already; draining has its own deadline.
	drainCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cfg.DrainTimeout)
	defer cancel()
	drained := make(chan error, 1)
	go func() { drained <- srv.Drain(drainCtx) }()
	select {
	case err := <-drained:
		if failed {
			return fmt.Errorf("the node cannot go on: %w", err)
		}
		if err != nil {
			return fmt.Errorf("drain: %w", err)
		}
		tell("Stopped.")
		return nil
	case s := <-signals:
		return fmt.Errorf("stopped at once by a second signal (%s); what was not confirmed may be lost", s)
	}
}

// notify reports a state to systemd if it started this process with Type=notify.
func notify(state string) {
	daemon.SdNotify(false, state) //nolint:errcheck // an error could not be handled here
}

// limitRound is the interval at which the collector's limit is adapted to the memory of the
// broker's keys.
const limitRound = 10 * time.Second

// awaitEnd returns when the broker is to stop, or has failed. Until then it calls follow at once
// and every limitRound, and reloads files on SIGHUP.
func awaitEnd(ctx context.Context, signals, hangups <-chan os.Signal, srv *server.Server, follow func()) (failed bool) {
	round := time.NewTicker(limitRound)
	defer round.Stop()
	for {
		follow()
		select {
		case <-ctx.Done():
			return false
		case <-signals:
			return false
		case <-srv.Failed():
			return true
		case <-hangups:
			srv.Reload() //nolint:errcheck // unusable files are logged
		case <-round.C:
		}
	}
}

// NewLogger returns a logger that writes to w as cfg, which is valid, says.
func NewLogger(cfg config.Config, w io.Writer) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(cfg.LogLevel)); err != nil {
		panic("cli: a valid configuration has a known log level: " + err.Error())
	}
	opts := &slog.HandlerOptions{Level: level, ReplaceAttr: inWords}
	if cfg.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, opts))
	}
	return slog.New(slog.NewTextHandler(w, opts))
}

// inWords converts a value to text if it has a text form: an address, a method or a duration. JSON
// would show the struct or the number.
func inWords(_ []string, a slog.Attr) slog.Attr {
	if _, local := a.Value.Any().(*net.UnixAddr); local { // a client's address has no name
		a.Value = slog.StringValue("this machine")
	} else if text, ok := a.Value.Any().(fmt.Stringer); ok && (a.Value.Kind() == slog.KindAny || a.Value.Kind() == slog.KindDuration) {
		a.Value = slog.StringValue(text.String())
	}
	return a
}

// withoutTLS describes which connections need no TLS, by the setting tls_plain.
var withoutTLS = map[string]string{
	config.PlainAlways:   "plain connections too",
	config.PlainLoopback: "plain connections only from this machine",
	config.PlainNever:    "plain connections are rejected",
}

// pageURL returns the URL of the web page for a browser on this machine, or "" if it is not served.
func pageURL(cfg config.Config, served []server.Endpoint) string {
	i := slices.IndexFunc(served, func(e server.Endpoint) bool { return e.Protocol == "http" })
	switch {
	case i < 0:
		return ""
	case served[i].TLS && cfg.TLSPlain == config.PlainNever:
		return "https://" + served[i].Local() + "/"
	}
	return "http://" + served[i].Local() + "/"
}

// addresses returns the address of each protocol, for the log.
func addresses(served []server.Endpoint) slog.Attr {
	var all []any
	for _, e := range served {
		all = append(all, slog.String(e.Protocol, e.Address))
	}
	return slog.Group("addresses", all...)
}

// banner prints one line per protocol, which begins with its key, and how to stop.
func banner(w io.Writer, version string, cfg config.Config, served []server.Endpoint) {
	fmt.Fprintf(w, "Fiveways %s, data in %s, confirms wait for: %s\n", version, cfg.Data, cfg.Sync)
	for _, key := range config.ListenKeys() {
		var addrs []string
		var try string
		for _, e := range served {
			if e.Protocol == key {
				addrs, try = append(addrs, e.Address), cmp.Or(try, e.Try())
			}
		}
		if addrs == nil {
			fmt.Fprintf(w, "%-5s off\n", key)
			continue
		}
		fmt.Fprintf(w, "%-5s %s   try: %s\n", key, strings.Join(addrs, ", "), try)
	}
	if page := pageURL(cfg, served); page != "" {
		fmt.Fprintf(w, "Web page: %s (a new broker's user is guest, with password guest)\n", page)
	}
	if cfg.TLSCert != "" {
		fmt.Fprintf(w, "TLS is accepted on every address; %s.\n", withoutTLS[cfg.TLSPlain])
	}
	fmt.Fprintln(w, "Stop with Ctrl-C or SIGTERM.")
}
