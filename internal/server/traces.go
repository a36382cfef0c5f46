package server

import (
	"log/slog"

	"fiveways.dev/fiveways/internal/config"
	"fiveways.dev/fiveways/internal/core/tracing"
	"fiveways.dev/fiveways/internal/traces"
)

// newTraces returns the exporter of message spans, nil if that is off.
func newTraces(cfg config.Config, version string, log *slog.Logger) *traces.Exporter {
	if cfg.OTLPEndpoint == config.Off {
		return nil
	}
	return traces.New(traces.Options{Endpoint: cfg.OTLPEndpoint, Node: cfg.NodeName, Version: version, Log: log})
}

// heard is an exporter as the engine takes it.
func heard(e *traces.Exporter) tracing.Listener {
	if e == nil {
		return nil // not a tracing.Listener that holds a nil
	}
	return e
}

// counted is how an exporter's spans are counted, nil where none are sent.
func counted(e *traces.Exporter) func() traces.Stats {
	if e == nil {
		return nil
	}
	return e.Stats
}
