package definitions

import (
	"encoding/json"
	"log/slog"

	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// Check returns an error if a file of the whole broker is invalid for any broker. Load may still
// refuse it, for example because it names a virtual host that does not exist.
func Check(file []byte, o Options) error {
	var f File
	if err := json.Unmarshal(file, &f); err != nil {
		return rest.Unreadable(err)
	}
	l := loader{log: slog.New(slog.DiscardHandler), check: o.CheckPolicy} // Load logs
	for i := range f.Parameters {
		if err := l.checkParameter(&f.Parameters[i]); err != nil {
			return err
		}
	}
	for i := range f.Policies {
		if _, err := l.policy(&f.Policies[i]); err != nil {
			return err
		}
	}
	for i := range f.Queues {
		if _, err := l.queueSpec(f.Queues[i].VHost, &f.Queues[i]); err != nil {
			return err
		}
	}
	for i := range f.Exchanges {
		if _, err := exchangeSpec(f.Exchanges[i].VHost, &f.Exchanges[i]); err != nil {
			return err
		}
	}
	return nil
}
