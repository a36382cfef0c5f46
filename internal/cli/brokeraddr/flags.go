package brokeraddr

import (
	"context"
	"errors"

	"fiveways.dev/fiveways/internal/cli/exitcode"
	"fiveways.dev/fiveways/internal/config"

	"github.com/spf13/cobra"
)

// Verdicts are the exit codes of errors about addresses of brokers, each with a hint.
var Verdicts = []exitcode.Verdict{
	{Err: errUnserved, Code: exitcode.WrongUsage, Hint: "Give the address of the broker (--url, see --help), or another data folder with --data DIR."},
}

// Flags name the broker of a command that uses a protocol other than the HTTP API, if no URL is
// given.
type Flags struct{ data, file string }

// Add adds --data and --config to a command.
func (b *Flags) Add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&b.data, "data", "", "data folder of the broker (default: from the configuration)")
	cmd.Flags().StringVar(&b.file, "config", "", "TOML file with settings (or "+config.EnvFile+")")
}

// UnlessURL rejects --data together with the URL of a broker, which what names.
func (b *Flags) UnlessURL(what string) error {
	if b.data != "" {
		return exitcode.Usage("give %s or --data, not both: each names a broker", what)
	}
	return nil
}

// Address returns the broker's address for a protocol, or an error if the protocol is not served.
func (b *Flags) Address(ctx context.Context, key string) (string, error) {
	address, err := addressOf(ctx, key, b.file, b.data)
	if err == nil && address == "" {
		err = Unserved(key)
	}
	return address, err
}

// RedisURL returns the URL of the broker for the Redis protocol.
func (b *Flags) RedisURL(ctx context.Context) (string, error) {
	address, err := b.Address(ctx, "redis")
	if err != nil {
		return "", err
	}
	return "redis://" + address, nil
}

// AMQPURI returns the URI of the broker that a flag names, with user and password. If the flag is
// empty it is the broker of b.
func (b *Flags) AMQPURI(cmd *cobra.Command, flag, text, variable string) (string, error) {
	if text == "" {
		address, err := b.Address(cmd.Context(), "amqp")
		if err != nil {
			return "", err
		}
		text = "amqp://" + address
	}
	return AMQPURI(cmd, flag, text, variable)
}

// errUnserved means that the protocol that a command uses is off in the broker.
var errUnserved = errors.New("no address to connect to")

// protocolNames are the names of protocols in errors, by their keys in the configuration.
var protocolNames = map[string]string{
	"amqp": "AMQP", "sql": "SQL", "redis": "the Redis protocol", "etcd": "the etcd API", "http": "the HTTP API",
}

// Unserved returns an error that matches errUnserved: the broker does not serve a protocol.
func Unserved(key string) error {
	return unservedError("the broker does not serve " + protocolNames[key] + ", so there is no address to go to")
}

// unservedError is an errUnserved with the key of the protocol.
type unservedError string

func (e unservedError) Error() string   { return string(e) }
func (e unservedError) Is(t error) bool { return t == errUnserved }
