package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"fiveways.dev/fiveways/internal/cluster"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

const (
	// joinPatience is how long a new node tries to reach its cluster.
	joinPatience = 30 * time.Second
	// tokenPoll is how often a new node checks for its token.
	tokenPoll = time.Second
)

// enter initializes an empty data folder as that of a node, which joins a cluster or founds one. It
// leaves the folder of an existing node unchanged.
func (s *Server) enter() error {
	is, err := store.LookInto(vfs.OS{}, s.cfg.Data)
	switch {
	case err != nil || is.Replica:
		return err
	case !is.Empty:
		return fmt.Errorf("%w: %s", cluster.ErrNotEmpty, s.cfg.Data)
	}
	token := s.cfg.ClusterJoin
	if file := s.cfg.ClusterJoinFile; file != "" {
		token, err = readToken(file)
		missing := errors.Is(err, fs.ErrNotExist)
		if missing && s.cfg.ClusterFound == s.cfg.NodeName {
			return s.found()
		}
		if missing || errors.Is(err, errNoToken) {
			token, err = s.awaitToken(file)
		}
		if err != nil {
			return fmt.Errorf("cluster_join_file: %w", err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), joinPatience)
	defer cancel()
	return cluster.Join(ctx, s.cfg.Data, token, s.cfg.AdvertisedAddress())
}

// errNoToken means that the file for tokens exists and has none. It still marks a cluster as
// founded: the command that should have written the token may have failed.
var errNoToken = errors.New("the file exists but has no token")

// found founds a cluster if there is no file for tokens. It would exist if a node of an existing
// cluster had lost its data.
func (s *Server) found() error {
	id, err := cluster.Init(s.cfg.Data, s.cfg.AdvertisedAddress())
	if err == nil {
		s.log.Info("cluster created: this is its first node", "cluster", fmt.Sprintf("%016x", id))
	}
	return err
}

// awaitToken waits until the file contains a token.
func (s *Server) awaitToken(file string) (token string, err error) {
	s.log.Info("waiting for a token to join the cluster", "file", file)
	tick := time.NewTicker(tokenPoll)
	defer tick.Stop()
	for told := false; ; <-tick.C {
		token, err = readToken(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case !errors.Is(err, errNoToken):
			return token, err
		case !told:
			told = true
			s.log.Error("cluster_join_file exists but has no token, so this node waits and does not found a cluster: write a token to it, which "+
				"`fiveways cluster token` prints on a node of the cluster; if there is no cluster yet, delete the file and start this node again", "file", file)
		}
	}
}

// readToken returns the content of a file. Errors: fs.ErrNotExist, errNoToken, those of the file
// system.
func readToken(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return "", errNoToken
	}
	return string(text), nil
}
