package cli

import (
	"net"
	"net/url"
	"os"
	"strings"

	"fiveways/internal/config"

	"github.com/spf13/cobra"
)

// amqpURI completes the URI of a broker for a command: the user's password is that of an environment variable, known for guest, or asked for. An empty
// text is the broker of the configuration.
func amqpURI(cmd *cobra.Command, flag, text, variable, file string) (string, error) {
	text, err := amqpAddress(flag, text, file)
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
func amqpAddress(flag, text, file string) (string, error) {
	if text == "" {
		cfg, _, err := config.Load(config.Sources{File: file, Env: os.Environ()})
		if err != nil {
			return "", err
		}
		if cfg.AMQP == config.Off {
			return "", usage("amqp is off in the configuration; name the broker with --%s", flag)
		}
		address, _, _ := strings.Cut(cfg.AMQP, ",")
		if host, port, err := net.SplitHostPort(address); err == nil && (host == "" || host == "0.0.0.0") {
			address = net.JoinHostPort("127.0.0.1", port)
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
