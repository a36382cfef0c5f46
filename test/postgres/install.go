package postgres

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"fiveways.dev/fiveways/test/daemon"
)

// OldestVersion is the oldest supported major version.
const OldestVersion = 15

// debianFolders matches the folders of all versions on Debian, whose initdb and postgres are not in
// the PATH.
const debianFolders = "/usr/lib/postgresql/*/bin"

// ErrNone means that no PostgreSQL of a sufficient version is installed.
var ErrNone = errors.New("postgres: no PostgreSQL 15 or newer here (on Debian: apt-get install postgresql)")

// Install installs Debian's PostgreSQL with apt-get unless one exists. The output of apt-get goes
// to output.
func Install(output io.Writer) error {
	if _, err := Bin(); err == nil {
		return nil
	}
	return daemon.Install(output, "postgresql", "postgresql-contrib")
}

// Bin returns the folder of the newest PostgreSQL's programs: initdb, postgres, psql, pgbench. It
// returns ErrNone if there is none.
func Bin() (string, error) {
	folders, err := filepath.Glob(debianFolders)
	if err != nil {
		return "", err
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		folders = append(folders, filepath.Dir(path))
	}
	best, newest := "", OldestVersion-1
	for _, folder := range folders {
		if v := version(folder); v > newest {
			best, newest = folder, v
		}
	}
	if best == "" {
		return "", ErrNone
	}
	return best, nil
}

// version returns the major version of the server in folder, or 0 if there is none.
func version(folder string) int {
	if _, err := os.Stat(filepath.Join(folder, "initdb")); err != nil {
		return 0
	}
	out, err := exec.Command(filepath.Join(folder, "postgres"), "--version").Output() // postgres (PostgreSQL) 15.14 (Debian ...)
	if err != nil {
		return 0
	}
	_, text, _ := strings.Cut(string(out), ") ")
	text = text[:len(text)-len(strings.TrimLeft(text, "0123456789"))]
	v, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return v
}
