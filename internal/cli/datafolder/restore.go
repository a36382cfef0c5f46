package datafolder

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"fiveways.dev/fiveways/internal/cli/display"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"

	"github.com/spf13/cobra"
)

var errNoBackup = errors.New("not a complete backup")

// RestoreCommand returns `fiveways restore`.
func RestoreCommand() *cobra.Command {
	return &cobra.Command{
		Use: "restore FILE DIR", Short: "make a data folder of a backup", Args: cobra.ExactArgs(2),
		Long: `Unpacks an archive of "fiveways backup" into DIR, which is empty or missing, and reads all of it once more. DIR holds the whole backup then, or nothing:
also when the command is interrupted. FILE - is standard input.

Start a broker on the folder, or make it the first node of a new cluster with "fiveways cluster init"; the other nodes join with empty folders.`,
		Example: `  fiveways restore fiveways-2030-01-31.tar restored && fiveways doctor restored
  zstd -dc fiveways.tar.zst | fiveways restore - restored`,
		RunE: func(cmd *cobra.Command, args []string) error {
			in, size := cmd.InOrStdin(), int64(0)
			if args[0] != "-" {
				f, err := os.Open(args[0])
				if err != nil {
					return fmt.Errorf("restore: %w", err)
				}
				defer f.Close()
				if info, err := f.Stat(); err == nil {
					size = info.Size()
				}
				in = f
			}
			meter := display.NewMeter(cmd.ErrOrStderr(), display.Bytes)
			var n int64
			err := store.Restore(vfs.OS{}, args[1], func(to *store.Staged) (err error) {
				n, err = unpack(meter.Reader(in, size), to)
				return err
			})
			meter.End()
			if errors.Is(err, store.ErrCorrupt) {
				err = fmt.Errorf("%w: %s", errNoBackup, err)
			}
			if err != nil {
				return fmt.Errorf("restore: %w", err)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s restored to %s\n", display.Bytes(n), args[1])
			return err
		},
	}
}

// unpack unpacks an archive and returns the total size of its files.
func unpack(from io.Reader, to *store.Staged) (n int64, err error) {
	in := &ending{Reader: from}
	archive := tar.NewReader(in)
	for {
		h, err := archive.Next()
		switch {
		case err == io.EOF && in.zeros < endOfArchive:
			return n, fmt.Errorf("%w: it is cut off", errNoBackup)
		case err == io.EOF:
			return n, nil
		case errors.Is(err, tar.ErrHeader), errors.Is(err, io.ErrUnexpectedEOF):
			return n, fmt.Errorf("%w: %w", errNoBackup, err)
		case err != nil:
			return n, err
		}
		if err := to.Create(h.Name); err != nil {
			return n, err
		}
		wrote, err := io.Copy(to, archive)
		n += wrote
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = fmt.Errorf("%w: %w", errNoBackup, err)
		}
		if err != nil {
			return n, err
		}
	}
}

// endOfArchive is the number of zeros at the end of a tar archive. Package tar accepts an archive
// without them.
const endOfArchive = 1024

// ending counts the zeros at the end of what was read.
type ending struct {
	io.Reader
	zeros int
}

func (e *ending) Read(p []byte) (int, error) {
	n, err := e.Reader.Read(p)
	kept := len(bytes.TrimRight(p[:n], "\x00"))
	if kept > 0 {
		e.zeros = 0
	}
	e.zeros += n - kept
	return n, err
}
