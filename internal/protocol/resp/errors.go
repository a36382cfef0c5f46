package resp

import (
	"fmt"
	"strings"

	"fiveways.dev/fiveways/internal/protocol/resp/command"
)

// Errors of the connection itself, with the texts of Redis.
const (
	errNoAuth        command.Error = "NOAUTH Authentication required."
	errNoPermChannel command.Error = "NOPERM this user has no permissions to access one of the channels used as arguments"
	errWrongPass     command.Error = "WRONGPASS invalid username-password pair or user is disabled."
	errNoCluster     command.Error = "ERR This instance has cluster support disabled"
	errExecAborted   command.Error = "EXECABORT Transaction discarded because of previous errors."
)

// unknown returns the error for an unknown command.
func unknown(args [][]byte) command.Error {
	if clusterOnly[lowered(args[0])] {
		return errNoCluster
	}
	var with strings.Builder
	for _, a := range args[1:] {
		room := command.MostQuoted - with.Len()
		if room <= 0 {
			break
		}
		fmt.Fprintf(&with, "'%s' ", a[:min(len(a), room)])
	}
	return command.Errorf("ERR unknown command '%s', with args beginning with: %s%s",
		command.Quoted(args[0]), with.String(), elsewhere(args[0]))
}

// unknownSub returns the error for an unknown subcommand.
func unknownSub(args [][]byte) command.Error {
	return command.Errorf("ERR unknown subcommand '%s'. Try %s HELP.", command.Quoted(args[1]), strings.ToUpper(string(args[0])))
}
