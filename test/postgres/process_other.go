//go:build !linux

package postgres

import "os/exec"

// owner is the user of the server process: the current user.
type owner struct{}

func findOwner() (owner, error) { return owner{}, nil }

func (owner) command(name string, args ...string) *exec.Cmd { return exec.Command(name, args...) }

func (owner) take(string) error { return nil }
