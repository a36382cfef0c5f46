package clusters

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"fiveways.dev/fiveways/internal/cli/display"
	"fiveways.dev/fiveways/internal/cli/exitcode"
	"fiveways.dev/fiveways/internal/cluster"
	"fiveways.dev/fiveways/internal/config"

	"github.com/spf13/cobra"
)

func recoverCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "recover", Short: "start a new cluster from one node of a cluster that has lost its majority", Args: cobra.NoArgs,
		Long: `For a cluster that has permanently lost a majority of its nodes. As long as a majority may come back, wait for it: this loses data and cannot be undone.

Without --yes nothing is changed; the command prints where the log of the stopped node ends. Run it that way for each remaining node, and choose the one
whose log ends in the highest term, and among those the one with the highest entry. With --yes, that node becomes the first node of a new cluster with
the data on its disk. Confirmed data that only the lost nodes had is lost; data on its disk that was never confirmed is kept.

The folder of a node that has stopped because its state was not that of the leader is described as such, and refused: choose another one, if there is one.

All other nodes, including the remaining ones, join the new cluster with empty folders. Never start them on their old folders again: they cannot join the
new cluster, but together they would still be the old one.`,
		Example: `  fiveways cluster recover --data /var/lib/fiveways
  cp -a /var/lib/fiveways /backup && fiveways cluster recover --data /var/lib/fiveways --yes`,
	}
	load := folder(cmd)
	address := cmd.Flags().String("address", "", "host:port by which other nodes reach this one (default: as before)")
	yes := cmd.Flags().Bool("yes", false, "do it")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		cfg, err := load()
		if err != nil {
			return err
		}
		if *address != "" && !config.IsReachable(*address) {
			return exitcode.Usage("--address: %q: give the host and port by which the other nodes reach this one", *address)
		}
		r, err := cluster.Examine(cfg.Data)
		if err != nil {
			return err
		}
		at := cmp.Or(*address, r.Addresses[r.Node])
		if at == "" {
			return exitcode.Usage("--address: the folder does not say how other nodes reach this one: give a host and port")
		}
		out := cmd.OutOrStdout()
		describe(out, cfg.Data, &r)
		if !*yes {
			does := "begins a new cluster"
			if r.Diverged != "" {
				does = "is refused"
			}
			_, err := fmt.Fprintf(out, "Nothing was changed. `fiveways cluster recover --help` says which node to choose; with --yes this one %s.\n", does)
			return err
		}
		id, err := cluster.Recover(cfg.Data, at)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "%s is the first node of cluster %016x now, alone. The folders of all other nodes are of no use any more.\n"+
			"Start it:                                  fiveways serve --data %s --cluster-listen %s\n"+
			"A token for each new, empty node then:     fiveways cluster token --data %s\n", cfg.Data, id, cfg.Data, at, cfg.Data)
		return err
	}
	return cmd
}

// describe prints the state of a folder.
func describe(out io.Writer, dir string, r *cluster.Remains) {
	role := "no member any more"
	switch {
	case slices.Contains(r.Voters, r.Node):
		role = "a voter"
	case slices.Contains(r.Learners, r.Node):
		role = "a learner, which may lack much"
	}
	fmt.Fprintf(out, "%s: node %d of cluster %016x, %s; voters: %s\n", dir, r.Node, r.Cluster, role, strings.Trim(fmt.Sprint(r.Voters), "[]"))
	fmt.Fprintf(out, "Its log ends with entry %d in term %d. It knows that all up to entry %d was committed.\n", r.Last.Index, r.Last.Term, r.Committed)
	if r.Diverged != "" {
		fmt.Fprintf(out, "Its state was NOT that of the leader, so the node had stopped: choose the folder of another node, if there is one. (%s)\n", display.OneLine(r.Diverged))
	}
}
