package datafolder

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"fiveways.dev/fiveways/internal/cli/brokerapi"
	"fiveways.dev/fiveways/internal/cli/display"
	"fiveways.dev/fiveways/internal/storage/vfs"

	"github.com/spf13/cobra"
)

// BackupCommand returns `fiveways backup`.
func BackupCommand() *cobra.Command {
	return brokerapi.RunningCommand(&cobra.Command{
		Use: "backup FILE", Short: "copy the data folder of a running broker into a tar archive", Args: cobra.ExactArgs(1),
		Long: `The archive contains everything confirmed before the command: definitions, users, durable messages, jobs, keys, semaphores. The broker keeps
running. "fiveways restore" makes a data folder of it.

Every node of a cluster makes the same archive, while a majority is up: what is committed, without the cluster's nodes, keys and log. A broker that
is alone opens it, and "fiveways cluster init" makes it the first node of a new cluster.

FILE must not exist yet; - is standard output. Copy the folder of a stopped broker with cp -a instead. The command needs the tag administrator.`,
		Example: `  fiveways backup fiveways-2030-01-31.tar
  fiveways backup - --url https://ops@broker:15672 | zstd > fiveways.tar.zst`,
	}, func(cmd *cobra.Command, op *brokerapi.Client, args []string) error {
		w, err := op.Send(cmd.Context(), http.MethodGet, brokerapi.Path("backup"), nil)
		if err != nil {
			return err
		}
		defer w.Body.Close()
		meter := display.NewMeter(cmd.ErrOrStderr(), display.Bytes)
		from := meter.Reader(arriving{w.Body}, 0)
		if args[0] == "-" {
			_, err := io.Copy(cmd.OutOrStdout(), from)
			meter.End()
			return err
		}
		n, err := saveNew(args[0], from)
		meter.End()
		if err != nil {
			return fmt.Errorf("backup: %w", err)
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s written to %s\n", display.Bytes(n), args[0])
		return err
	})
}

// errIncomplete means that the connection broke before the end of the archive.
var errIncomplete = errors.New("the archive is not complete")

// arriving is an archive that is being received from a broker.
type arriving struct{ io.Reader }

func (a arriving) Read(p []byte) (int, error) {
	n, err := a.Reader.Read(p)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("%w: %w", errIncomplete, err)
	}
	return n, err
}

// saveNew writes a new file, which is on disk when it returns. On an error it removes the partial
// file.
func saveNew(name string, from io.Reader) (n int64, err error) {
	f, err := vfs.CreateNewSteady(name) // the broker's log may be on the same disk
	if err != nil {
		return 0, err
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			err = errors.Join(err, os.Remove(name))
		}
	}()
	if n, err = io.Copy(io.NewOffsetWriter(f, 0), from); err != nil {
		return n, err
	}
	return n, f.Datasync()
}
