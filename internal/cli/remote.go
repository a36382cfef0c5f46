package cli

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"

	"fiveways/internal/config"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// errLogin tells that the broker asks for another login.
var errLogin = errors.New("login refused")

// errForbidden tells that the user has not the permission.
var errForbidden = errors.New("not permitted")

// errNotHTTP tells that what answers is not the HTTP API.
var errNotHTTP = errors.New("no answer of the HTTP API")

// remoteOperator speaks the HTTP API of a broker over the network, as the user that the URL names.
func remoteOperator(cmd *cobra.Command, text string) (*operator, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Path != "" && u.Path != "/" || u.RawQuery != "" {
		return nil, fmt.Errorf("%w: --url looks like http://user@host:15672", errUsage)
	}
	if _, given := u.User.Password(); given {
		return nil, fmt.Errorf("%w: no password in --url, where others can see it; give it as %s, or when asked for it", errUsage, config.EnvPassword)
	}
	op := &operator{transport: http.DefaultTransport, base: u.Scheme + "://" + u.Host, user: u.User.Username(), running: true, close: func() error { return nil }}
	op.password, err = loginPassword(cmd, &op.user)
	return op, err
}

// loginPassword is the password of a user: that of the environment, that of guest which everybody knows, or what the terminal says. Without a user it
// is guest.
func loginPassword(cmd *cobra.Command, user *string) (string, error) {
	const guest = "guest"
	if *user == "" {
		*user = guest
	}
	if password, ok := os.LookupEnv(config.EnvPassword); ok {
		return password, nil
	}
	if *user == guest {
		return guest, nil
	}
	fd := int(os.Stdin.Fd())
	if !term.IsTerminal(fd) {
		return "", fmt.Errorf("%w: no terminal to ask for the password of %s; give it as %s", errUsage, *user, config.EnvPassword)
	}
	return askPassword(cmd.ErrOrStderr(), fd, "Password of "+*user+": ")
}

// askPassword asks on a terminal.
func askPassword(out io.Writer, fd int, prompt string) (string, error) {
	fmt.Fprint(out, prompt)
	b, err := term.ReadPassword(fd)
	fmt.Fprintln(out)
	return string(b), err
}
