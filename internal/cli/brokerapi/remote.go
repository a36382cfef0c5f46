package brokerapi

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"

	"fiveways.dev/fiveways/internal/cli/exitcode"
	"fiveways.dev/fiveways/internal/cli/input"
	"fiveways.dev/fiveways/internal/config"

	"github.com/spf13/cobra"
)

// errLogin means that the broker rejected the login.
var errLogin = errors.New("login refused")

// errForbidden means that the user lacks a permission.
var errForbidden = errors.New("not permitted")

// errWantsTLS means that the HTTP API is served over TLS and the request was not.
var errWantsTLS = errors.New("the broker serves that port over TLS")

// errNotHTTP means that the answer did not come from the HTTP API.
var errNotHTTP = errors.New("no answer from the HTTP API")

// Address names a broker over the network.
type Address struct {
	URL           string
	ca, cert, key string // PEM files

	PasswordVariable string // environment variable; "" means config.EnvPassword
}

func (a *Address) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&a.URL, "url", "", "http(s)://user@host:15672 of a broker, instead of --data; password from "+config.EnvPassword+", or asked for")
	f.StringVar(&a.ca, "ca", "", "file with the certificates to trust, for an https URL (default: those of the system)")
	f.StringVar(&a.cert, "cert", "", "file with a certificate of the client, for an https URL")
	f.StringVar(&a.key, "key-file", "", "file with the key of --cert (default: in the same file)")
}

// given reports whether a broker over the network is named.
func (a *Address) given() bool { return a.URL != "" || a.ca != "" || a.cert != "" || a.key != "" }

// transport returns the transport to the broker, with TLS as the files say.
func (a *Address) transport(scheme string) (http.RoundTripper, error) {
	if a.ca == "" && a.cert == "" && a.key == "" {
		return http.DefaultTransport, nil
	}
	if scheme != "https" {
		return nil, fmt.Errorf("%w: --ca, --cert and --key-file are for a --url that begins with https://", exitcode.ErrUsage)
	}
	settings := &tls.Config{MinVersion: tls.VersionTLS12}
	if a.ca != "" {
		pem, err := os.ReadFile(a.ca)
		if err != nil {
			return nil, fmt.Errorf("--ca: %w", err)
		}
		settings.RootCAs = x509.NewCertPool()
		if !settings.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%w: --ca: %s contains no PEM certificate", exitcode.ErrUsage, a.ca)
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

// Remote speaks the HTTP API of a broker over the network, as the user that the URL names.
func Remote(cmd *cobra.Command, at Address) (*Client, error) {
	u, err := url.Parse(at.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Path != "" && u.Path != "/" || u.RawQuery != "" {
		return nil, fmt.Errorf("%w: --url looks like http://user@host:15672", exitcode.ErrUsage)
	}
	if _, given := u.User.Password(); given {
		return nil, fmt.Errorf("%w: no password in --url, where others can see it; give it as %s, or when asked for it", exitcode.ErrUsage, cmp.Or(at.PasswordVariable, config.EnvPassword))
	}
	transport, err := at.transport(u.Scheme)
	if err != nil {
		return nil, err
	}
	op := &Client{transport: transport, base: u.Scheme + "://" + u.Host, Host: u.Hostname(), user: u.User.Username(), Running: true, Close: func() error { return nil }}
	op.password, err = input.PasswordOf(cmd, &op.user, cmp.Or(at.PasswordVariable, config.EnvPassword))
	return op, err
}
