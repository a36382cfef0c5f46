package datafolder

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"fiveways/internal/cli/brokerapi"

	"github.com/spf13/cobra"
)

// BackupCommand returns `fiveways backup`.
func BackupCommand() *cobra.Command {
	return brokerapi.RunningCommand(&cobra.Command{
		Use: "backup FILE", Short: "copy the data folder of a running broker into a tar archive", Args: cobra.ExactArgs(1),
		Long: `The archive contains everything confirmed before the command: definitions, users, durable messages, jobs, keys, semaphores. The broker keeps
running. To restore, unpack it into an empty folder, check it with "fiveways doctor", and start a broker there.

FILE must not exist yet; - is standard output. Copy the folder of a stopped broker with cp -a instead. The command needs the tag administrator.`,
		Example: `  fiveways backup fiveways-2030-01-31.tar
  fiveways backup - --url https://ops@broker:15672 | zstd > fiveways.tar.zst
  mkdir restored && tar -xf fiveways-2030-01-31.tar -C restored && fiveways doctor restored`,
	}, func(cmd *cobra.Command, op *brokerapi.Client, args []string) (err error) {
		w, err := op.Send(cmd.Context(), http.MethodGet, brokerapi.Path("backup"), nil)
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
