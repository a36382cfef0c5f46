package cli

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/spf13/cobra"
)

func backupCommand() *cobra.Command {
	return operateRunning(&cobra.Command{
		Use: "backup FILE", Short: "copy the data folder of a broker that runs into a tar archive", Args: cobra.ExactArgs(1),
		Long: `The archive holds everything that was promised before the command: definitions, users, durable messages, jobs, keys, semaphores. The broker goes on
meanwhile. To restore, unpack it into an empty folder, look at it with "fiveways doctor", and start a broker there.

FILE must not be there yet; - is standard output. The folder of a broker that does not run is copied as it is (cp -a). It needs the tag administrator.`,
		Example: `  fiveways backup fiveways-2030-01-31.tar
  fiveways backup - --url https://ops@broker:15672 | zstd > fiveways.tar.zst
  mkdir restored && tar -xf fiveways-2030-01-31.tar -C restored && fiveways doctor restored`,
	}, func(cmd *cobra.Command, op *operator, args []string) (err error) {
		w, err := op.send(cmd.Context(), http.MethodGet, path("backup"), nil)
		if err != nil {
			return err
		}
		defer w.Body.Close()
		if args[0] == "-" {
			_, err := io.Copy(cmd.OutOrStdout(), w.Body)
			return err
		}
		n, err := saveNew(args[0], w.Body)
		if err != nil {
			return fmt.Errorf("backup: %w", err)
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d bytes written to %s\n", n, args[0])
		return err
	})
}

// saveNew writes a new file that is on disk when it returns; a part of one is removed.
func saveNew(name string, from io.Reader) (n int64, err error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			err = errors.Join(err, os.Remove(name))
		}
	}()
	if n, err = io.Copy(f, from); err != nil {
		return n, err
	}
	return n, f.Sync()
}
