package clusters

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"fiveways.dev/fiveways/internal/cli/display"
	"fiveways.dev/fiveways/internal/cli/exitcode"
	"fiveways.dev/fiveways/internal/cli/input"
	"fiveways.dev/fiveways/internal/cli/listing"
	"fiveways.dev/fiveways/internal/cluster"
	"fiveways.dev/fiveways/internal/cluster/control"
	"fiveways.dev/fiveways/internal/config"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/replica/level"
	"fiveways.dev/fiveways/internal/server"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"

	"github.com/spf13/cobra"
)

var (
	errNoNode  = errors.New("no node of a cluster runs on the folder")
	errRefused = errors.New("the cluster refused")
)

// Verdicts are the exit codes of errors about clusters, each with a hint.
var Verdicts = []exitcode.Verdict{
	{Err: errNoNode, Code: exitcode.Failure, Hint: "Run the command on a machine where a node runs, with --data DIR as that node has it."},
	{Err: errRefused, Code: exitcode.Failure},
	{Err: syscall.ECONNRESET, Code: exitcode.Failure, Hint: "The other end has closed the connection, as a node of a cluster does when the lead changes: run the command again, or see `fiveways cluster status`."},
	{Err: cluster.ErrNotEmpty, Code: exitcode.WrongUsage, Hint: "Choose an empty folder with --data DIR; a node gets all data from the cluster."},
	{Err: cluster.ErrNotMember, Code: exitcode.WrongUsage, Hint: "Give the data folder of a node of a cluster with --data DIR. A standalone broker becomes the first node of a cluster with `fiveways cluster init`."},
	{Err: cluster.ErrNothing, Code: exitcode.Failure, Hint: "Recover another node, or restore a backup."},
	{Err: cluster.ErrWrongState, Code: exitcode.WrongUsage, Hint: "Nothing was changed. Recover the folder of another node, if there is one. If there is none, or the leader's state was the wrong one, delete the file that the error names, and run the command again."},
	{Err: level.ErrUnsupported, Code: exitcode.Failure, Hint: "Nothing was changed in the folder. `fiveways cluster status` on another node shows the version to start here."},
	{Err: store.ErrReplica, Code: exitcode.WrongUsage, Hint: "Start it as a node of its cluster: `fiveways serve --cluster-listen HOST:PORT`."},
}

// Command returns `fiveways cluster`.
func Command() *cobra.Command {
	return listing.Group("cluster", "create a cluster and manage its nodes", `Three or five nodes keep the same log. What is confirmed is on the disks of a majority, every node serves the clients of all protocols, and when
the leader fails another node leads within seconds.`,
		`  fiveways cluster init --address n1:5680 && fiveways serve --cluster-listen n1:5680
  fiveways cluster token                                        on the first node, for each of the others; there:
  fiveways serve --cluster-listen n2:5680 --cluster-join TOKEN`,
		initCommand(), tokenCommand(), statusCommand(), transferCommand(), removeCommand(), recoverCommand())
}

func initCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "init", Short: "make a data folder the first node of a new cluster", Args: cobra.NoArgs,
		Long: `Makes the data folder of a stopped broker, or an empty folder, the first node of a new cluster. All data in the folder is kept. The node leads alone
until two others have joined. The only way back to a standalone broker is a backup.`,
		Example: `  fiveways cluster init --data /var/lib/fiveways --address n1.example.com:5680`,
	}
	load := folder(cmd)
	address := cmd.Flags().String("address", "", "host:port by which the other nodes reach this one (its cluster_listen or cluster_advertise)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		cfg, err := load()
		if err != nil {
			return err
		}
		if !config.IsReachable(*address) {
			return exitcode.Usage("--address: %q: give the host and port by which the other nodes reach this one", *address)
		}
		id, err := cluster.Init(cfg.Data, *address)
		if err != nil {
			return err
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s is the first node of cluster %016x.\nStart it: fiveways serve --data %s --cluster-listen %s\n", cfg.Data, id, cfg.Data, *address)
		return nil
	}
	return cmd
}

func tokenCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "token", Short: "print a token with which a node joins", Args: cobra.NoArgs,
		Long: `Prints a token for cluster_join, which admits one node. Until it expires, anyone who has it can add a node, which receives all data of the cluster.
If a node's request got no answer, start the node again on the same folder, with this token or another: it stays the same member.`,
		Example: `  fiveways cluster token --for 1h
  fiveways cluster token --count 2 --file /run/cluster/token`,
	}
	d := cmd.Flags().Duration("for", time.Hour, "how long it is valid; at most 720h")
	count := cmd.Flags().Int("count", 1, "how many tokens, one for each new node, a line each")
	file := cmd.Flags().String("file", "", "write to this file, for cluster_join_file, and print nothing")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if *count < 1 {
			return exitcode.Usage("--count is %d; it must be at least 1", *count)
		}
		return nil
	}
	return running(cmd, func(cmd *cobra.Command, n *node, _ []string) error {
		var all strings.Builder
		for range *count {
			var t control.Token
			if err := n.do(cmd.Context(), http.MethodPost, "/token?for="+d.String(), &t); err != nil {
				return err
			}
			all.WriteString(t.Token + "\n")
		}
		if *file != "" {
			return vfs.Replace(vfs.OS{}, *file, []byte(all.String()))
		}
		_, err := io.WriteString(cmd.OutOrStdout(), all.String())
		return err
	})
}

func statusCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "status", Short: "show the nodes of the cluster", Args: cobra.NoArgs,
		Example: `  fiveways cluster status
  fiveways cluster status --watch
  fiveways cluster status -o json`,
	}
	var output string
	display.Flag(cmd, &output)
	watch := display.WatchFlag(cmd)
	return running(cmd, func(cmd *cobra.Command, n *node, _ []string) error {
		return watch(cmd, func() error {
			var s protocol.ClusterStatus
			if err := n.do(cmd.Context(), http.MethodGet, "/status", &s); err != nil {
				return err
			}
			return show(cmd.OutOrStdout(), output, &s)
		})
	})
}

func show(w io.Writer, output string, s *protocol.ClusterStatus) error {
	if output == display.FormJSON {
		return display.PrintJSON(w, s)
	}
	leader := "no node leads"
	switch {
	case s.Removed:
		leader = protocol.Removed
	case s.Leader != 0:
		leader = fmt.Sprintf("node %d leads", s.Leader)
	}
	fmt.Fprintf(w, "cluster %s at level %d, %s in term %d; %d entries, %d committed, as node %d knows it\n", s.Cluster, s.Level, leader, s.Term, s.Last, s.Committed, s.Node)
	err := display.Table(w, "NODE\tROLE\tNAME\tADDRESS\t>LAG\t>APPLIED\t>RTT\t>CLOCK\t>DISK FREE\tVERSION\tSUPPORTS", func(row func(...any)) {
		for i := range s.Members {
			m := &s.Members[i]
			lag, free, supports, about := "?", "?", "", protocol.About{Name: m.Name() + ", does not answer", DiskFree: -1}
			if entries, known := s.Lag(m); known {
				lag = strconv.FormatUint(entries, 10)
			}
			if m.About != nil {
				about, supports = *m.About, m.About.Levels.String()
			}
			if about.DiskFree >= 0 {
				free = display.Bytes(about.DiskFree)
			}
			if about.LowOnDisk() {
				free += " (low)"
			}
			row(m.Node, m.Role, about.Name, m.Address, lag, about.Applied, m.RTT.Round(10*time.Microsecond), m.Skew.Round(time.Millisecond), free, about.Version, supports)
		}
	})
	for i := range s.Members {
		if m := &s.Members[i]; m.Up && m.Lags && m.Votes() {
			fmt.Fprintf(w, "Node %d does not keep up with the log, and counts for no majority until it does.\n", m.Node)
		}
		for j := range s.Members[:i] {
			if m, other := &s.Members[i], &s.Members[j]; m.Name() == other.Name() {
				fmt.Fprintf(w, "Nodes %d and %d are both called %s: give each a node_name of its own, or remove the one that is gone.\n", other.Node, m.Node, m.Name())
			}
		}
	}
	return err
}

func transferCommand() *cobra.Command {
	return running(&cobra.Command{
		Use: "transfer [NODE]", Short: "make another node the leader", Args: cobra.MaximumNArgs(1),
		Long: `Makes NODE the leader. A node that is down, has no vote yet, or does not keep up with the log is refused. Clients are disconnected and reconnect. Without NODE, the node that is asked gives up the lead, and
the command waits until another node leads; if it does not lead, nothing happens. Use this before you stop a machine.`,
		Example: `  fiveways cluster transfer 2
  fiveways cluster transfer`,
	}, func(cmd *cobra.Command, n *node, args []string) error {
		if len(args) > 0 {
			return change("/transfer", "Node %s is asked to lead.\n")(cmd, n, args)
		}
		if err := n.do(cmd.Context(), http.MethodPost, "/resign", nil); err != nil {
			return err
		}
		_, err := fmt.Fprintln(cmd.OutOrStdout(), "This node does not lead.")
		return err
	})
}

func removeCommand() *cobra.Command {
	var consent input.Consent
	remove := change("/remove", "Node %s has left the cluster.\n")
	return consent.Flag(running(&cobra.Command{
		Use: "remove NODE", Short: "remove a node from the cluster permanently", Args: cobra.ExactArgs(1),
		Long: `Removes a node. Its number is never used again, and its data folder is of no more use: the machine can come back only as a new node with an empty
folder. A cluster of three voters refuses, since two are no safer than one: add a node first. It also refuses if the voters that are up would be no majority
of those that are left: remove the nodes that are down first.`,
		Example: `  fiveways cluster remove 3 --yes`,
	}, func(cmd *cobra.Command, n *node, args []string) error {
		if err := consent.Ask(cmd, "Remove node %s from the cluster permanently?", args[0]); err != nil {
			return err
		}
		return remove(cmd, n, args)
	}))
}

// change returns an action that requests a change of the node named by the first argument.
func change(path, done string) func(*cobra.Command, *node, []string) error {
	return func(cmd *cobra.Command, n *node, args []string) error {
		if err := n.do(cmd.Context(), http.MethodPost, path+"?node="+url.QueryEscape(args[0]), nil); err != nil {
			return err
		}
		_, err := fmt.Fprintf(cmd.OutOrStdout(), done, args[0])
		return err
	}
}

// folder adds the flags that name a data folder.
func folder(cmd *cobra.Command) (load func() (config.Config, error)) {
	data := cmd.Flags().String("data", "", "data folder of the node (default: from the configuration)")
	file := cmd.Flags().String("config", "", "TOML file with settings (or "+config.EnvFile+")")
	return func() (config.Config, error) {
		src := config.Sources{File: *file, Env: os.Environ(), Flags: map[string]string{}}
		if *data != "" {
			src.Flags["data"] = *data
		}
		cfg, _, err := config.Load(src)
		return cfg, err
	}
}

// node is a node that runs on a data folder, reached over its control socket.
type node struct{ http http.Client }

// running adds the flags for a running node to cmd, and makes run its action.
func running(cmd *cobra.Command, run func(*cobra.Command, *node, []string) error) *cobra.Command {
	load := folder(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		cfg, err := load()
		if err != nil {
			return err
		}
		socket := server.ControlSocket(cfg)
		conn, err := net.Dial("unix", socket)
		if err != nil {
			return fmt.Errorf("%s: %w: %w", cfg.Data, errNoNode, err)
		}
		conn.Close()
		n := &node{}
		n.http.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		}}
		defer n.http.CloseIdleConnections()
		return run(cmd, n, args)
	}
	return cmd
}

// do sends a request and decodes the answer, unless into is nil.
func (n *node) do(ctx context.Context, method, path string, into any) error {
	r, err := http.NewRequestWithContext(ctx, method, "http://node"+path, nil)
	if err != nil {
		return err
	}
	resp, err := n.http.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= http.StatusBadRequest {
		var said struct{ Error string }
		if err := json.NewDecoder(resp.Body).Decode(&said); err != nil {
			return fmt.Errorf("%w: %s", errRefused, resp.Status)
		}
		return fmt.Errorf("%w: %s", errRefused, said.Error)
	}
	if into == nil {
		return nil
	}
	return json.NewDecoder(resp.Body).Decode(into)
}
