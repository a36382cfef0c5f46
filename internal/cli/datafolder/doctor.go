package datafolder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/cli/display"
	"fiveways.dev/fiveways/internal/cli/exitcode"
	"fiveways.dev/fiveways/internal/keyspace"
	"fiveways.dev/fiveways/internal/semaphores"
	"fiveways.dev/fiveways/internal/statemachine"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
)

var errDamage = errors.New("damage found")

// Verdicts are the exit codes of errors about data folders, each with a hint.
var Verdicts = []exitcode.Verdict{
	{Err: vfs.ErrLocked, Code: exitcode.InUse, Hint: "Stop the broker that uses the folder first; the command works offline."},
	{Err: errIncomplete, Code: exitcode.Failure, Hint: "The connection to the broker broke, or the node does not lead its cluster any more. Run the command again."},
	{Err: store.ErrNotEmpty, Code: exitcode.WrongUsage, Hint: "A backup never overwrites anything: give another folder, or move this one away."},
	{Err: errNoBackup, Code: exitcode.Failure, Hint: "Give an archive that `fiveways backup` has written; decompress it first if needed (zstd -d)."},
	{Err: errDamage, Code: exitcode.Damage, Hint: ""},
	{Err: store.ErrUnsupportedFormat, Code: exitcode.Failure, Hint: "A newer version of Fiveways wrote the folder; start that version, or choose another folder with --data DIR."},
	{Err: store.ErrCorrupt, Code: exitcode.Damage, Hint: "Copy the folder, then check it with `fiveways doctor DIR`; `fiveways doctor DIR --repair` repairs it and reports what is lost."},
}

// DoctorCommand returns `fiveways doctor`.
func DoctorCommand() *cobra.Command {
	var repair bool
	cmd := &cobra.Command{
		Use:   "doctor DIR",
		Short: "check a data folder offline, and repair it",
		Long: `Reads the data folder of a broker that is not running: the segments of its log, its checkpoints, all damage
in them, and, if there is none, the exchanges, queues and keys a broker would start with. Without --repair it changes nothing and only takes the folder's lock file.

A torn end is what a crash leaves of an unconfirmed write; the broker cuts it off by itself. Anything else that
cannot be read is damage: the broker does not start on it, and doctor ends with exit code 4. It also ends with 4
when the files are sound but messages are missing, after a repair or when files of the log were deleted; a broker starts on such a folder.

--repair sets damaged files aside (as *.damaged), rebuilds them from their intact parts, and reports what is lost.
Copy the folder first: a repair cannot be undone.`,
		Example: `  fiveways doctor ./fiveways-data
  cp -a ./fiveways-data ./before && fiveways doctor ./fiveways-data --repair`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if repair {
				return repairFolder(cmd.OutOrStdout(), args[0])
			}
			return inspectFolder(cmd.OutOrStdout(), args[0])
		},
	}
	cmd.Flags().BoolVar(&repair, "repair", false, "cut or rebuild damaged files")
	return cmd
}

// inspectFolder prints the contents of dir. Errors: errDamage if the broker would not start on it.
func inspectFolder(out io.Writer, dir string) error {
	report, err := store.Inspect(vfs.OS{}, dir)
	if err != nil {
		return fmt.Errorf("doctor: %w", err)
	}
	if len(report.Segments)+len(report.Checkpoints) == 0 {
		return fmt.Errorf("doctor: %w: %s contains no message log; give the folder that `fiveways serve` uses as --data", exitcode.ErrUsage, dir)
	}
	if err := printReport(out, report); err != nil {
		return err
	}
	if damaged(report) {
		fmt.Fprintln(out, "The queues can be listed once the damage is repaired.")
		return fmt.Errorf("doctor: %s: %w; copy the folder, then run `fiveways doctor %s --repair`", dir, errDamage, dir)
	}
	lost, err := describeFolder(out, dir)
	if err == nil && lost > 0 {
		err = fmt.Errorf("doctor: %s: %w: %d messages are lost; restore a backup, or start the broker, which goes on without them", dir, errDamage, lost)
	}
	return err
}

func repairFolder(out io.Writer, dir string) error {
	before, err := store.Repair(vfs.OS{}, dir)
	if err != nil {
		return fmt.Errorf("doctor: %w", err)
	}
	if len(before.Damage) == 0 && !damaged(before) {
		_, err := fmt.Fprintf(out, "%s has no damage; nothing was changed.\n", dir)
		return err
	}
	fmt.Fprintf(out, "Repaired:\n")
	printDamage(out, before)
	after, err := store.Inspect(vfs.OS{}, dir)
	if err != nil {
		return fmt.Errorf("doctor: after the repair: %w", err)
	}
	fmt.Fprintf(out, "\nNow:\n")
	if err := printReport(out, after); err != nil {
		return err
	}
	if damaged(after) {
		return fmt.Errorf("doctor: %s: %w that --repair cannot fix", dir, errDamage)
	}
	_, err = describeFolder(out, dir)
	return err
}

// describeFolder prints the definitions and queues in dir, whose files are sound. It returns the
// number of messages that are missing from the log.
func describeFolder(out io.Writer, dir string) (lost int, err error) {
	keys := keyspace.New(keyspace.Options{QuotaBytes: -1})
	defer keys.Close() //nolint:errcheck // there is nothing to write
	sems := semaphores.New(semaphores.Options{})
	d, err := inspect.Describe(vfs.OS{}, dir, map[uint32]statemachine.Machine{statemachine.Keys: keys, statemachine.Semaphores: sems})
	if err == nil {
		err = sems.Err()
	}
	if err != nil {
		return 0, fmt.Errorf("doctor: %w", err)
	}
	fmt.Fprintln(out)
	err = display.Table(out, "VHOST\tEXCHANGE\tTYPE\t>BINDINGS", func(row func(...any)) {
		for _, v := range d.VHosts {
			for _, x := range v.Exchanges {
				row(v.Name, x.Name, x.Type, x.Bindings)
			}
		}
	})
	if err != nil {
		return 0, err
	}
	queues, messages := 0, 0
	fmt.Fprintln(out)
	err = display.Table(out, "VHOST\tQUEUE\t>READY\t>SCHEDULED\t>READY BYTES\t>BINDINGS", func(row func(...any)) {
		for _, v := range d.VHosts {
			for _, q := range v.Queues {
				row(v.Name, q.Name, q.Ready, q.Scheduled, q.Bytes, q.Bindings)
				queues, messages = queues+1, messages+q.Ready+q.Scheduled
			}
		}
	})
	if err != nil {
		return 0, err
	}
	fmt.Fprintf(out, "\n%d durable queues, %d persistent messages, %d virtual hosts, %d users\n", queues, messages, len(d.VHosts), d.Users)
	if err := describeKeys(out, keys); err != nil {
		return 0, fmt.Errorf("doctor: %w", err)
	}
	if st := sems.Stats(); st.Semaphores > 0 {
		fmt.Fprintf(out, "%d semaphores with %d tasks\n", st.Semaphores, st.Tasks)
	}
	for _, v := range d.VHosts {
		for _, q := range v.Queues {
			if q.Lost > 0 {
				fmt.Fprintf(out, "LOST: %d messages of queue %s in %s, which the log no longer has; the broker sets them aside\n", q.Lost, q.Name, v.Name)
				lost += q.Lost
			}
		}
	}
	return lost, nil
}

// describeKeys prints the number of ordinary keys of the etcd API, unless there have never been
// any.
func describeKeys(out io.Writer, keys *keyspace.Store) error {
	all, err := keys.KV().Range(context.Background(), []byte{0}, []byte{}, mvcc.RangeOptions{CountOnly: true})
	leases := len(keys.Lessor().Leases())
	if err != nil || all.Rev == 1 && leases == 0 {
		return err
	}
	_, err = fmt.Fprintf(out, "%d keys of the etcd API at revision %d, %d leases\n", all.Count, all.Rev, leases)
	return err
}

// damaged reports whether the report has more than the torn end that a crash may leave.
func damaged(r store.Report) bool {
	return len(r.Missing) > 0 ||
		slices.ContainsFunc(r.Damage, func(d store.Damage) bool { return !d.Torn }) ||
		slices.ContainsFunc(r.Checkpoints, func(c store.CheckpointReport) bool { return !c.Valid })
}

func printReport(out io.Writer, r store.Report) error {
	total := int64(0)
	err := display.Table(out, ">SEGMENT\t>BYTES\tSTATE\tSHARD:ENTRIES (FIRST-LAST)", func(row func(...any)) {
		for _, s := range r.Segments {
			state := "open"
			if s.Sealed {
				state = "sealed"
			}
			var shards []string
			for _, e := range s.Shards {
				shards = append(shards, fmt.Sprintf("%s:%d (%d-%d)", strings.TrimPrefix(statemachine.ShardName(e.Shard), "shard "), e.Entries, e.First, e.Last))
			}
			row(s.Number, s.Bytes, state, strings.Join(shards, "  "))
			total += s.Bytes
		}
	})
	if err != nil {
		return err
	}
	fmt.Fprintln(out)
	err = display.Table(out, "CHECKPOINT\t>BYTES\tSTATE\t>UP TO ENTRY", func(row func(...any)) {
		for _, c := range r.Checkpoints {
			state := "valid"
			if !c.Valid {
				state = "DAMAGED"
			}
			row(statemachine.ShardName(c.Shard), c.Bytes, state, c.Index)
			total += c.Bytes
		}
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%d segments, %d checkpoints, %d bytes\n", len(r.Segments), len(r.Checkpoints), total)
	printDamage(out, r)
	return nil
}

// printDamage prints what cannot be read, and what is lost by that.
func printDamage(out io.Writer, r store.Report) {
	for _, d := range r.Damage {
		if d.Torn {
			fmt.Fprintf(out, "torn end (nothing promised is lost, the broker cuts it): %s\n", d)
		} else {
			fmt.Fprintf(out, "DAMAGE: %s\n", d)
		}
	}
	for _, m := range r.Missing {
		fmt.Fprintf(out, "LOST: entries %d to %d of %s\n", m.First, m.Last, statemachine.ShardName(m.Shard))
	}
}
