package server

import (
	"fmt"
	"log/slog"
	"os"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/protocol/httpapi"
)

// loadDefinitions imports a definitions file before the broker accepts connections.
func loadDefinitions(b *broker.Broker, file string, log *slog.Logger) error {
	text, err := os.ReadFile(file)
	if err == nil {
		err = httpapi.LoadDefinitions(b, log, text)
	}
	if err != nil {
		return fmt.Errorf("load_definitions: %s: %w", file, err)
	}
	log.Info("definitions loaded", "file", file)
	return nil
}
