package server

import (
	"fmt"
	"log/slog"
	"os"
	"strings"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/config"
	"fiveways.dev/fiveways/internal/core/access"
	"fiveways.dev/fiveways/internal/core/catalog"
)

const (
	guest     = "guest" // the user that every new data folder has
	rootVHost = "/"
)

// makeFirstUser creates the administrator of the configuration and removes guest, if the users of
// the data folder are unchanged. It removes guest last, so if it is interrupted the next start
// completes it.
func makeFirstUser(b *broker.Broker, cfg config.Config, log *slog.Logger) error {
	if !untouched(b, cfg.DefaultUser) {
		return nil
	}
	password := cfg.DefaultPass
	if cfg.DefaultPassFile != "" {
		text, err := os.ReadFile(cfg.DefaultPassFile)
		if err != nil {
			return fmt.Errorf("default_pass_file: %w", err)
		}
		if password = strings.TrimRight(string(text), "\r\n"); password == "" {
			return fmt.Errorf("default_pass_file: %s is empty", cfg.DefaultPassFile)
		}
	}
	name := cfg.DefaultUser
	if _, err := b.PutUser(catalog.UserSpec{Name: name, Password: password, Tags: []string{catalog.TagAdministrator}}); err != nil {
		return fmt.Errorf("default_user: %w", err)
	}
	all := catalog.Permission{User: name, VHost: rootVHost, Configure: access.Everything, Write: access.Everything, Read: access.Everything}
	if _, err := b.SetPermission(all); err != nil {
		return fmt.Errorf("default_user: %w", err)
	}
	if name != guest {
		if err := b.DeleteUser(guest); err != nil {
			return fmt.Errorf("default_user: %w", err)
		}
	}
	log.Info("the first user was created", "user", name, "guest_removed", name != guest)
	return nil
}

// untouched reports whether the users are those of a new data folder: guest with its initial
// password, and at most the first user.
func untouched(b *broker.Broker, first string) bool {
	there := false
	for _, u := range b.Users() {
		switch u.Name {
		case guest:
			there = u.Made == 0 && b.Credentials(guest, true).Trusted
		case first:
		default:
			return false
		}
	}
	return there
}
