package cli

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"fiveways.dev/fiveways/internal/cli/benches"
	"fiveways.dev/fiveways/internal/cli/brokeraddr"
	"fiveways.dev/fiveways/internal/cli/brokerapi"
	"fiveways.dev/fiveways/internal/cli/clusters"
	"fiveways.dev/fiveways/internal/cli/datafolder"
	"fiveways.dev/fiveways/internal/cli/display"
	"fiveways.dev/fiveways/internal/cli/exitcode"
	"fiveways.dev/fiveways/internal/cli/jobs"
	"fiveways.dev/fiveways/internal/cli/migration"
	"fiveways.dev/fiveways/internal/cli/semaphores"
	"fiveways.dev/fiveways/internal/cli/serving"
	"fiveways.dev/fiveways/internal/cli/sqlinstall"
	"fiveways.dev/fiveways/internal/config"
)

const exitHelp = `Exit codes:
  0  success
  1  failure, also if a file that a setting names cannot be opened
  2  wrong command line or configuration
  3  a listen address or the data folder is in use
  4  the data folder is damaged`

// generalVerdicts are for errors of any command.
var generalVerdicts = []exitcode.Verdict{
	{Err: syscall.ECONNREFUSED, Code: exitcode.Failure, Hint: "Is the server running there? A broker is started with `fiveways serve`."},
	{Err: fs.ErrExist, Code: exitcode.Failure, Hint: "Choose another name, or move that file away first."},
	{Err: fs.ErrPermission, Code: exitcode.Failure, Hint: "Give the user who runs fiveways permission for it, or choose another folder (--data DIR) or a port above 1023."},
	{Err: syscall.EADDRNOTAVAIL, Code: exitcode.Failure, Hint: "The address must be one of this machine: 127.0.0.1 for local programs, 0.0.0.0 for the whole network."},
}

// verdicts are those of all commands. The first that matches an error counts.
var verdicts = slices.Concat(benches.Verdicts, clusters.Verdicts, serving.Verdicts, sqlinstall.Verdicts, jobs.Verdicts, brokeraddr.Verdicts, brokerapi.Verdicts, semaphores.Verdicts, migration.Verdicts,
	generalVerdicts, datafolder.Verdicts)

// errorText returns an error as one line without control characters, so that names in it cannot
// control the terminal. Only configuration errors have several lines, one for each mistake.
func errorText(err error) string {
	text := strings.TrimSpace(err.Error())
	if !errors.Is(err, config.ErrInvalid) {
		text = display.OneLine(text)
	}
	return strings.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		return display.Shown(r)
	}, text)
}

// report prints err with its hint and returns the exit code. A nil err is success.
func report(stderr io.Writer, command string, err error) int {
	if err == nil {
		return exitcode.OK
	}
	fmt.Fprintf(stderr, "fiveways: %s\n", errorText(err))
	if errors.Is(err, exitcode.ErrUsage) {
		fmt.Fprintf(stderr, "Run `%s --help` for what it takes, with examples.\n", command)
		return exitcode.WrongUsage
	}
	for _, v := range verdicts {
		if errors.Is(err, v.Err) {
			if v.Hint != "" {
				fmt.Fprintln(stderr, v.Hint)
			}
			return v.Code
		}
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		fmt.Fprintln(stderr, "Name the certificate to trust with --ca FILE; the name in the URL must be one that is in the broker's certificate.")
	}
	for _, hintOf := range []func(error) string{brokeraddr.RedisHint, brokeraddr.NetworkHint, brokeraddr.AMQPHint} {
		if hint := hintOf(err); hint != "" {
			fmt.Fprintln(stderr, hint)
			break
		}
	}
	return exitcode.Failure
}
