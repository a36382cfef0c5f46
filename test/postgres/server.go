package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fiveways.dev/fiveways/test/daemon"
)

const (
	startPatience = 60 * time.Second
	stopPatience  = 30 * time.Second
)

// Superuser owns the server. Every user of this machine may connect as this user.
const Superuser = "postgres"

// Options are the options of a server.
type Options struct {
	Fsync    bool     // make commits durable across a power failure; only measurements need it
	Database string   // the database of the DSN, created unless it exists; "" means postgres
	Settings []string // further settings as name=value, such as log_statement=all
	LogTo    string   // a file for the server's log; "" keeps it in the server's folder
}

// Server is a running PostgreSQL.
type Server struct {
	port    int
	dir     string
	opts    Options
	process *daemon.Process
}

// Start returns the DSN of a server that ends with the test. Without PostgreSQL the test is
// skipped, but fails with CI=true.
func Start(t testing.TB, o Options) string {
	t.Helper()
	return Run(t, o).DSN()
}

// Run is Start for callers that need more than the DSN.
func Run(t testing.TB, o Options) *Server {
	t.Helper()
	return daemon.ForTest(t, func() (*Server, error) { return Open(o) }, ErrNone)
}

// Open starts a server. With CI=true it first installs PostgreSQL if it is missing. It returns
// ErrNone if there is none.
func Open(o Options) (*Server, error) {
	bin, err := Bin()
	if errors.Is(err, ErrNone) && os.Getenv("CI") == "true" {
		var output bytes.Buffer
		if err := Install(&output); err != nil {
			return nil, fmt.Errorf("postgres: %w\n%s", err, output.Bytes())
		}
		bin, err = Bin()
	}
	if err != nil {
		return nil, err
	}
	as, err := findOwner()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "postgres")
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	s := &Server{dir: dir, opts: o}
	if err := s.start(bin, as); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Server) start(bin string, as owner) error {
	data := filepath.Join(s.dir, "data")
	err := errors.Join(os.Mkdir(data, 0o700), as.take(data), as.take(s.dir))
	if err != nil {
		return fmt.Errorf("postgres: %w", err)
	}
	initdb := as.command(filepath.Join(bin, "initdb"), "-D", data, "-U", Superuser, "--locale=C.UTF-8", "-E", "UTF8", "-A", "trust", "--no-sync")
	initdb.Dir = s.dir
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("postgres: initdb: %w\n%s", err, out)
	}
	if s.port, err = daemon.FreePort(); err != nil {
		return fmt.Errorf("postgres: %w", err)
	}
	cmd := as.command(filepath.Join(bin, "postgres"), append([]string{"-D", data}, s.settings()...)...)
	cmd.Dir = s.dir
	if s.process, err = daemon.Start(cmd, s.logName()); err != nil {
		return fmt.Errorf("postgres: %w", err)
	}
	return s.prepare()
}

func (s *Server) settings() (args []string) {
	settings := []string{
		"listen_addresses=127.0.0.1", fmt.Sprintf("port=%d", s.port), "unix_socket_directories=", "max_connections=200",
		"timezone=UTC", "lc_messages=C", "log_min_messages=fatal",
	}
	if !s.opts.Fsync {
		settings = append(settings, "fsync=off", "full_page_writes=off", "synchronous_commit=off")
	}
	for _, setting := range append(settings, s.opts.Settings...) {
		args = append(args, "-c", setting)
	}
	return args
}

// prepare waits until the server serves, and creates what every database has.
func (s *Server) prepare() error {
	ctx, cancel := context.WithTimeout(context.Background(), startPatience)
	defer cancel()
	conn, err := s.connect(ctx, s.url("template1"))
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "create extension hstore")
	if err = errors.Join(err, conn.Close(ctx)); err != nil {
		return fmt.Errorf("postgres: hstore: %w", err)
	}
	if conn, err = s.connect(ctx, s.url(Superuser)); err != nil {
		return err
	}
	defer conn.Close(ctx)
	if _, err = conn.Exec(ctx, "create extension hstore"); err == nil && s.database() != Superuser {
		_, err = conn.Exec(ctx, "create database "+pgx.Identifier{s.database()}.Sanitize())
	}
	if err != nil {
		return fmt.Errorf("postgres: prepare: %w", err)
	}
	return nil
}

// connect retries until the server answers or exits.
func (s *Server) connect(ctx context.Context, url string) (conn *pgx.Conn, err error) {
	err = s.process.Await(ctx, func() (err error) {
		conn, err = pgx.Connect(ctx, url)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	return conn, nil
}

func (s *Server) database() string {
	if s.opts.Database == "" {
		return Superuser
	}
	return s.opts.Database
}

func (s *Server) url(database string) string {
	return fmt.Sprintf("postgres://%s@127.0.0.1:%d/%s?sslmode=disable", Superuser, s.port, database)
}

// DSN returns the URL of the database, as the superuser.
func (s *Server) DSN() string { return s.url(s.database()) }

// Port returns the server's port on 127.0.0.1.
func (s *Server) Port() int { return s.port }

func (s *Server) logName() string {
	if s.opts.LogTo != "" {
		return s.opts.LogTo
	}
	return filepath.Join(s.dir, "log")
}

// PID returns the process id of the server's main process, the parent of all others.
func (s *Server) PID() int { return s.process.PID() }

// Log returns the server's log.
func (s *Server) Log() string { return s.process.Log() }

// Close stops the server and removes its folder. It may be called repeatedly.
func (s *Server) Close() {
	if s.process != nil {
		s.process.Stop(syscall.SIGINT, stopPatience) // a fast shutdown
	}
	os.RemoveAll(s.dir)
}
