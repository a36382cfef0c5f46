package cli

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
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

// address names a broker over the network.
type address struct {
	url           string
	ca, cert, key string // files of PEM

	passwordVariable string // of the environment; "" is config.EnvPassword
}

func (a *address) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&a.url, "url", "", "http(s)://user@host:15672 of a broker, instead of --data; password from "+config.EnvPassword+", or asked for")
	f.StringVar(&a.ca, "ca", "", "file with the certificates to trust, for an https URL (default: those of the system)")
	f.StringVar(&a.cert, "cert", "", "file with a certificate of the client, for an https URL")
	f.StringVar(&a.key, "key-file", "", "file with the key of --cert (default: in the same file)")
}

// given tells whether a broker over the network is meant.
func (a *address) given() bool { return a.url != "" || a.ca != "" || a.cert != "" || a.key != "" }

// transport is the way to the broker, over TLS as the files say.
func (a *address) transport(scheme string) (http.RoundTripper, error) {
	if a.ca == "" && a.cert == "" && a.key == "" {
		return http.DefaultTransport, nil
	}
	if scheme != "https" {
		return nil, fmt.Errorf("%w: --ca, --cert and --key-file are for a --url that begins with https://", errUsage)
	}
	settings := &tls.Config{MinVersion: tls.VersionTLS12}
	if a.ca != "" {
		pem, err := os.ReadFile(a.ca)
		if err != nil {
			return nil, fmt.Errorf("--ca: %w", err)
		}
		settings.RootCAs = x509.NewCertPool()
		if !settings.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%w: --ca: %s holds no certificate in PEM", errUsage, a.ca)
		}
	}
	if a.cert != "" || a.key != "" {
		pair, err := tls.LoadX509KeyPair(a.cert, cmp.Or(a.key, a.cert))
		if err != nil {
			return nil, fmt.Errorf("--cert: %w", err)
		}
		settings.Certificates = []tls.Certificate{pair}
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = settings
	return transport, nil
}

// remoteOperator speaks the HTTP API of a broker over the network, as the user that the URL names.
func remoteOperator(cmd *cobra.Command, at address) (*operator, error) {
	u, err := url.Parse(at.url)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Path != "" && u.Path != "/" || u.RawQuery != "" {
		return nil, fmt.Errorf("%w: --url looks like http://user@host:15672", errUsage)
	}
	if _, given := u.User.Password(); given {
		return nil, fmt.Errorf("%w: no password in --url, where others can see it; give it as %s, or when asked for it", errUsage, cmp.Or(at.passwordVariable, config.EnvPassword))
	}
	transport, err := at.transport(u.Scheme)
	if err != nil {
		return nil, err
	}
	op := &operator{transport: transport, base: u.Scheme + "://" + u.Host, user: u.User.Username(), running: true, close: func() error { return nil }}
	op.password, err = passwordOf(cmd, &op.user, cmp.Or(at.passwordVariable, config.EnvPassword))
	return op, err
}

// passwordOf is the password of a user: that of an environment variable, that of guest which everybody knows, or what the terminal says. Without a user
// it is guest.
func passwordOf(cmd *cobra.Command, user *string, variable string) (string, error) {
	const guest = "guest"
	if *user == "" {
		*user = guest
	}
	if password, ok := os.LookupEnv(variable); ok {
		return password, nil
	}
	if *user == guest {
		return guest, nil
	}
	fd := int(os.Stdin.Fd())
	if !term.IsTerminal(fd) {
		return "", fmt.Errorf("%w: no terminal to ask for the password of %s; give it as %s", errUsage, *user, variable)
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
