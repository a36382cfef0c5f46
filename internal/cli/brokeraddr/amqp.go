package brokeraddr

import (
	"net/url"

	"fiveways.dev/fiveways/internal/cli/exitcode"
	"fiveways.dev/fiveways/internal/cli/input"

	"github.com/spf13/cobra"
)

// AMQPURI completes the URI of a broker for a command. The user's password comes from an
// environment variable, is known for guest, or is asked for.
func AMQPURI(cmd *cobra.Command, flag, text, variable string) (string, error) {
	if err := CheckAMQP(flag, text); err != nil {
		return "", err
	}
	u, err := url.Parse(text)
	if err != nil {
		return "", err
	}
	user := u.User.Username()
	password, err := input.PasswordOf(cmd, &user, variable)
	if err != nil {
		return "", err
	}
	u.User = url.UserPassword(user, password)
	return u.String(), nil
}

// CheckAMQP checks the URI of a broker. It rejects a URI with a password, since others can see the
// command line.
func CheckAMQP(flag, text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "amqp" && u.Scheme != "amqps" || u.Host == "" {
		return exitcode.Usage("--%s looks like amqp://user@host:5672/vhost, or amqps://…", flag)
	}
	if _, given := u.User.Password(); given {
		return exitcode.Usage("no password in --%s, where others can see it; give it in the environment (--help names the variable), or when asked for it", flag)
	}
	return nil
}
