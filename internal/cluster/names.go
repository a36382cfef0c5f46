package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"sync"

	"fiveways.dev/fiveways/internal/storage/vfs"
)

const (
	// namesFile is in the folder of the node's certificate. It holds the names of all nodes, as
	// JSON.
	namesFile = "names.json"
	maxNames  = 1 << 20 // bytes
)

// names holds the names that nodes have announced, so that the names of nodes that are down are
// still known after a restart. Names are for display only.
type names struct {
	fs   vfs.FS
	path string

	saving sync.Mutex

	mu    sync.Mutex
	known map[uint64]string // guarded by mu; by node number
}

// openNames reads the file. On an error it returns empty names as well.
func openNames(fsys vfs.FS, dir string) (*names, error) {
	n := &names{fs: fsys, path: filepath.Join(dir, identityDir, namesFile), known: map[uint64]string{}}
	b, err := vfs.ReadSmall(fsys, n.path, maxNames)
	if errors.Is(err, fs.ErrNotExist) {
		return n, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &n.known)
	}
	if err != nil {
		n.known = map[uint64]string{}
		return n, fmt.Errorf("%s: %w", n.path, err)
	}
	return n, nil
}

func (n *names) of(node uint64) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.known[node]
}

// note records the name of a node. If the name is new for the node, it returns the other nodes with
// the same name.
func (n *names) note(node uint64, name string) (others []uint64, err error) {
	n.mu.Lock()
	if n.known[node] == name {
		n.mu.Unlock()
		return nil, nil
	}
	n.known[node] = name
	for other, theirs := range n.known {
		if theirs == name && other != node {
			others = append(others, other)
		}
	}
	n.mu.Unlock()
	return others, n.save()
}

func (n *names) save() error {
	n.saving.Lock()
	defer n.saving.Unlock()
	n.mu.Lock()
	now := maps.Clone(n.known)
	n.mu.Unlock()
	b, err := json.Marshal(now)
	if err != nil {
		return err
	}
	return vfs.Replace(n.fs, n.path, b)
}

// NoteName records the name that a node has announced.
func (n *Node) NoteName(node uint64, name string) {
	others, err := n.names.note(node, name)
	if err != nil {
		n.o.Log.Warn("cluster: the names of the nodes could not be kept", "err", err)
	}
	addresses := n.Status().Addresses
	for _, other := range others {
		if _, member := addresses[other]; member {
			n.o.Log.Warn("cluster: two nodes have the same name; give each a node_name of its own, or remove the one that is gone", "name", name, "node", node, "other", other)
		}
	}
}

// Name returns the name that a node announced last, or "" if it has not announced one.
func (n *Node) Name(node uint64) string { return n.names.of(node) }
