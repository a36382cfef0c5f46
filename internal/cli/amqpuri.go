package cli

import (
	"context"
	"net/url"

	"github.com/spf13/cobra"
)

// amqpURI completes the URI of a broker for a command: the user's password is that of an environment variable, known for guest, or asked for. An empty
// text is the broker of the configuration.
func amqpURI(cmd *cobra.Command, flag, text, variable, file string) (string, error) {
	text, err := amqpAddress(cmd.Context(), flag, text, file)
	if err != nil {
		return "", err
	}
	u, err := url.Parse(text)
	if err != nil {
		return "", err
	}
	user := u.User.Username()
	password, err := passwordOf(cmd, &user, variable)
	if err != nil {
		return "", err
	}
	u.User = url.UserPassword(user, password)
	return u.String(), nil
}

// amqpAddress checks the URI of a broker, or makes that of the broker of the configuration. A password in it is refused, since others can see the command
// line.
func amqpAddress(ctx context.Context, flag, text, file string) (string, error) {
	if text == "" {
		address, err := addressOf(ctx, "amqp", file, "")
		if err != nil {
			return "", err
		}
		if address == "" {
			return "", usage("the broker does not serve amqp; name another one with --%s", flag)
		}
		return "amqp://" + address, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "amqp" && u.Scheme != "amqps" || u.Host == "" {
		return "", usage("--%s looks like amqp://user@host:5672/vhost, or amqps://…", flag)
	}
	if _, given := u.User.Password(); given {
		return "", usage("no password in --%s, where others can see it; give it in the environment (--help names the variable), or when asked for it", flag)
	}
	return text, nil
}
