package server

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/broker/enginetest"

	amqp "github.com/rabbitmq/amqp091-go"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/config"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/logtest"
)

// begin starts a node with only AMQP, runs fn and stops it.
func begin(t *testing.T, cfg config.Config, fn func(*Server)) error {
	t.Helper()
	cfg.AMQP = "127.0.0.1:0"
	cfg.SQL, cfg.Redis, cfg.Etcd, cfg.HTTP, cfg.Metrics = config.Off, config.Off, config.Off, config.Off, config.Off
	var log logtest.Text
	s, err := Start(cfg, "test", slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		return err
	}
	fn(s)
	drainPolicyNode(t, s)
	if strings.Contains(log.String(), "secret") {
		t.Errorf("the log has the password: %s", &log)
	}
	return nil
}

func mayLogIn(s *Server, user string) bool {
	c, err := amqp.Dial("amqp://" + user + "@" + s.Addrs()["amqp"])
	if err == nil {
		c.Close()
	}
	return err == nil
}

func users(s *Server) (names []string) {
	for _, u := range s.Broker().Users() {
		names = append(names, u.Name)
	}
	return names
}

func TestFirstUser(t *testing.T) {
	file := filepath.Join(t.TempDir(), "password")
	must(t, os.WriteFile(file, []byte("secret\n"), 0o600))
	for name, give := range map[string]func(*config.Config){
		"by variable": func(c *config.Config) { c.DefaultPass = "secret" },
		"by file":     func(c *config.Config) { c.DefaultPassFile = file },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config.Default()
			cfg.Data, cfg.DefaultUser = t.TempDir(), "alice"
			give(&cfg)
			works := func(fn func(*Server)) {
				t.Helper()
				must(t, begin(t, cfg, fn))
			}
			works(func(s *Server) {
				if !mayLogIn(s, "alice:secret") || mayLogIn(s, "guest:guest") {
					t.Error("alice cannot log in, or guest can")
				}
				u, err := s.Broker().User("alice")
				if err != nil || !slices.Contains(u.Tags, "administrator") || u.LoopbackOnly {
					t.Errorf("%+v, %v", u, err)
				}
				must(t, s.Broker().SetPassword("alice", "changed"))
			})
			works(func(s *Server) {
				if !mayLogIn(s, "alice:changed") {
					t.Error("a later start changed the password")
				}
				must(t, s.Broker().DeleteUser("alice"))
			})
			works(func(s *Server) {
				if got := users(s); len(got) > 0 {
					t.Errorf("a later start made %q", got)
				}
			})
		})
	}
}

// A folder with changed users keeps them.
func TestFirstUserComesOnce(t *testing.T) {
	for name, change := range map[string]func(*broker.Broker) error{
		"guest has another password": func(b *broker.Broker) error { return b.SetPassword("guest", "other") },
		"there is another user": func(b *broker.Broker) error {
			_, err := b.PutUser(catalog.UserSpec{Name: "bob", Password: "b"})
			return err
		},
		"guest was deleted": func(b *broker.Broker) error { return b.DeleteUser("guest") },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config.Default()
			cfg.Data = t.TempDir()
			b := enginetest.OpenFolder(t, cfg.Data, nil)
			must(t, change(b))
			enginetest.Close(t, b)
			cfg.DefaultUser, cfg.DefaultPass = "alice", "secret"
			err := begin(t, cfg, func(s *Server) {
				if slices.Contains(users(s), "alice") {
					t.Error("alice was made")
				}
			})
			must(t, err)
		})
	}
}

// A start that was interrupted between the creation of the new user and the removal of guest is
// completed by the next one.
func TestFirstUserAfterACrash(t *testing.T) {
	cfg := config.Default()
	cfg.Data = t.TempDir()
	b := enginetest.OpenFolder(t, cfg.Data, nil)
	if _, err := b.PutUser(catalog.UserSpec{Name: "alice", Password: "secret"}); err != nil {
		t.Fatal(err)
	}
	enginetest.Close(t, b)
	cfg.DefaultUser, cfg.DefaultPass = "alice", "secret"
	err := begin(t, cfg, func(s *Server) {
		if !mayLogIn(s, "alice:secret") || !slices.Equal(users(s), []string{"alice"}) {
			t.Errorf("users %q", users(s))
		}
	})
	must(t, err)
}

func TestFirstUserWithoutAPassword(t *testing.T) {
	cfg := config.Default()
	cfg.Data, cfg.DefaultUser = t.TempDir(), "alice"
	empty := filepath.Join(t.TempDir(), "empty")
	must(t, os.WriteFile(empty, []byte("\n"), 0o600))
	for _, file := range []string{empty, empty + ".none"} {
		cfg.DefaultPassFile = file
		if err := begin(t, cfg, func(*Server) { t.Error("it started") }); err == nil || !strings.Contains(err.Error(), "default_pass_file") {
			t.Errorf("%s: %v", file, err)
		}
	}
}
