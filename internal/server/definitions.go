package server

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"slices"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/protocol/httpapi"
)

// definitionsFile is the file of load_definitions as it was when the node started. A node may begin
// to lead long after: what has happened to the file since must not keep the node from it.
type definitionsFile struct {
	name string
	text []byte
}

// readDefinitions reads the file of load_definitions. It returns nil if there is none.
func readDefinitions(name string) (*definitionsFile, error) {
	if name == "" {
		return nil, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("load_definitions: %w", err)
	}
	return &definitionsFile{name, text}, nil
}

// check returns an error if the file is invalid for any broker. It may be nil.
func (f *definitionsFile) check() error {
	if f == nil {
		return nil
	}
	return f.named(httpapi.CheckDefinitions(f.text))
}

// load imports the file before the broker accepts connections.
func (f *definitionsFile) load(b *broker.Broker, log *slog.Logger) error {
	err := f.named(httpapi.LoadDefinitions(b, log, f.text))
	if err == nil {
		log.Info("definitions loaded", "file", f.name)
	}
	return err
}

// named adds the name of the file to an error.
func (f *definitionsFile) named(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("load_definitions: %s: %w", f.name, err)
}

// loadedComponent and loadedName name the parameter of a cluster with the hashes of the contents
// that were loaded last, the latest last. The API neither shows nor exports it: with the hash, a
// password in the file could be guessed, and another cluster has not loaded the file.
const (
	loadedComponent = "load_definitions"
	loadedName      = "loaded"
)

// maxLoaded is how many hashes are kept. It exceeds the number of different files that the nodes of
// a cluster may have, so that two of them do not undo each other at each change of the lead.
const maxLoaded = 16

// loadOnce is load for a node of a cluster that begins to lead. It imports a content only once,
// because operators may have changed since what the file defines, and each change of the lead would
// undo that. This includes a content that could not be imported completely. Then the node leads
// nevertheless, because the next one would fail too.
func (f *definitionsFile) loadOnce(b *broker.Broker, log *slog.Logger) error {
	hash := sha256.Sum256(f.text)
	sum, loaded := hex.EncodeToString(hash[:]), loadedBefore(b)
	switch at := slices.Index(loaded, sum); {
	case at >= 0 && at < len(loaded)-1:
		log.Warn("definitions not loaded: the cluster has loaded this content before, and another one since; to load it again, use `fiveways definitions import FILE`", "file", f.name)
		return nil
	case at >= 0:
		log.Info("definitions not loaded: the cluster has loaded this content before", "file", f.name)
		return nil
	}
	failed := f.load(b, log)
	loaded = append(loaded, sum)
	value, err := json.Marshal(loaded[max(0, len(loaded)-maxLoaded):])
	if err == nil {
		err = b.SetParameter(catalog.Parameter{Component: loadedComponent, Name: loadedName, Value: value})
	}
	if err == nil && failed != nil { // otherwise the lead is lost, and the next leader loads the file
		log.Error("definitions loaded in part only, and this content is not loaded again: remove the cause, and use `fiveways definitions import FILE`", "file", f.name, "err", failed)
	}
	return err
}

// loadedBefore returns the hashes of the contents that the cluster has loaded, the latest last.
func loadedBefore(b *broker.Broker) (hashes []string) {
	if p, ok := b.Parameter("", loadedComponent, loadedName); ok && json.Unmarshal(p.Value, &hashes) != nil {
		return nil // not written here: load the file rather than not lead
	}
	return hashes
}
