package certificates

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"fiveways.dev/fiveways/internal/authority"
	"fiveways.dev/fiveways/internal/cli/exitcode"

	"github.com/spf13/cobra"
)

// Command returns `fiveways tls`.
func Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tls",
		Short: "create certificates for tests and for trying TLS out",

		Example: "  fiveways tls self-signed --out certs --host localhost",
	}
	cmd.AddCommand(tlsSelfSigned())
	return cmd
}

func tlsSelfSigned() *cobra.Command {
	var o selfSigned
	cmd := &cobra.Command{
		Use:   "self-signed",
		Short: "create a CA, a server certificate and client certificates",
		Long: `Creates a throwaway CA that signs a server certificate for the names and addresses of --host, and one client
certificate per --client, which is a user of the broker. Clients must trust ca.pem. The CA's key is discarded, so it can sign no more
certificates. In production use certificates of a CA that your clients already trust.

The command does not overwrite existing files.`,
		Example: `  fiveways tls self-signed --out certs --host localhost --host 127.0.0.1
  fiveways serve --tls-cert certs/server.pem --tls-key certs/server-key.pem
  fiveways tls self-signed --out certs --host broker.example.org --client alice --days 365`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			made, err := o.write(time.Now())
			for _, name := range made {
				fmt.Fprintln(cmd.OutOrStdout(), name)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&o.dir, "out", ".", "folder of the files, created if missing")
	cmd.Flags().StringArrayVar(&o.hosts, "host", []string{"localhost", "127.0.0.1", "::1"}, "name or address of the server; may be given several times")
	cmd.Flags().StringArrayVar(&o.clients, "client", nil, "user to create a client certificate for; may be given several times")
	cmd.Flags().IntVar(&o.days, "days", 90, "days of validity, from 1 to 3650")
	return cmd
}

type selfSigned struct {
	dir            string
	hosts, clients []string
	days           int
}

// write writes the files and returns their names.
func (o *selfSigned) write(now time.Time) (made []string, err error) {
	const mostDays = 3650
	if o.days < 1 || o.days > mostDays {
		return nil, fmt.Errorf("%w: --days is a number from 1 to %d", exitcode.ErrUsage, mostDays)
	}
	for _, name := range o.clients {
		if name == "" || filepath.Base(name) != name || name == "ca" || name == "server" {
			return nil, fmt.Errorf("%w: --client %q cannot be the name of a file here", exitcode.ErrUsage, name)
		}
	}
	a, err := authority.New("Fiveways self-signed authority", now, now.AddDate(0, 0, o.days))
	if err != nil {
		return nil, err
	}
	files := []file{{"ca.pem", a.Cert(), publicMode}}
	server, err := a.Server(o.hosts...)
	if err != nil {
		return nil, err
	}
	files = append(files, pairFiles("server", server)...)
	for _, name := range o.clients {
		client, err := a.Client(name)
		if err != nil {
			return nil, err
		}
		files = append(files, pairFiles(name, client)...)
	}
	return writeNew(o.dir, files)
}

// The modes of the files: only the owner can read keys.
const (
	publicMode = 0o644
	secretMode = 0o600
)

type file struct {
	name    string
	content []byte
	mode    fs.FileMode
}

func pairFiles(name string, p authority.Pair) []file {
	return []file{{name + ".pem", p.Cert, publicMode}, {name + "-key.pem", p.Key, secretMode}}
}

// writeNew writes files. It fails if any of them exists.
func writeNew(dir string, files []file) (made []string, err error) {
	for _, f := range files {
		if _, err := os.Lstat(filepath.Join(dir, f.name)); !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%w: %s exists already; choose another folder with --out, or delete it", exitcode.ErrUsage, filepath.Join(dir, f.name))
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { // #nosec G301 -- certificates are public; keys have mode 0600
		return nil, err
	}
	for _, f := range files {
		path := filepath.Join(dir, f.name)
		w, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, f.mode)
		if err != nil {
			return made, err
		}
		_, err = w.Write(f.content)
		if err = errors.Join(err, w.Close()); err != nil {
			return made, err
		}
		made = append(made, path)
	}
	return made, nil
}
