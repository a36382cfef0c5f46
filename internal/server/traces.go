package server

import (
	"log/slog"

	"fiveways.dev/fiveways/internal/config"
	"fiveways.dev/fiveways/internal/core/tracing"
	"fiveways.dev/fiveways/internal/traces"
)

// newTraces returns the exporter of message spans, or nil if it is off.
func newTraces(cfg config.Config, version string, log *slog.Logger) *traces.Exporter {
	if cfg.OTLPEndpoint == config.Off {
		return nil
	}
	return traces.New(traces.Options{Endpoint: cfg.OTLPEndpoint, Node: cfg.NodeName, Version: version, Log: log})
}

// heard returns an exporter as the engine's interface.
func heard(e *traces.Exporter) tracing.Listener {
	if e == nil {
		return nil // not an interface that holds a nil pointer
	}
	return e
}

// counted returns the counters of an exporter, or nil if it is off.
func counted(e *traces.Exporter) func() traces.Stats {
	if e == nil {
		return nil
	}
	return e.Stats
}
