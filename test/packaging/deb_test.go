package packaging

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"fiveways.dev/fiveways/test/brokertest"
)

// build builds the Debian package of a binary with low compression, since nobody downloads it, and
// returns its path.
func build(t *testing.T, binary, version string) string {
	t.Helper()
	needs(t, "dpkg-deb", "dpkg", "gzip")
	t.Setenv("DPKG_DEB_COMPRESSOR_LEVEL", "1")
	return strings.TrimSpace(output(t, "../../deploy/deb/build", binary, version, t.TempDir()))
}

func TestPackageContent(t *testing.T) {
	pkg := build(t, brokertest.Binary(t), "v1.2.3-4-gabc")
	for field, want := range map[string]string{"Package": "fiveways", "Version": "1.2.3+4.gabc", "Depends": "adduser"} {
		if got := strings.TrimSpace(output(t, "dpkg-deb", "--field", pkg, field)); got != want {
			t.Errorf("%s: %q, want %q", field, got, want)
		}
	}
	list := output(t, "dpkg-deb", "--contents", pkg)
	for _, want := range []string{
		"-rwxr-xr-x root/root ./usr/bin/fiveways", "-rw-r--r-- root/root ./etc/fiveways/fiveways.toml",
		"-rw-r--r-- root/root ./lib/systemd/system/fiveways.service", "-rw-r--r-- root/root ./usr/share/man/man1/fiveways.1.gz",
		"-rw-r--r-- root/root ./usr/share/bash-completion/completions/fiveways", "-rw-r--r-- root/root ./usr/share/zsh/vendor-completions/_fiveways",
		"-rw-r--r-- root/root ./usr/share/fish/vendor_completions.d/fiveways.fish", "-rw-r--r-- root/root ./usr/share/doc/fiveways/copyright",
		"-rw-r--r-- root/root ./usr/share/doc/fiveways/NOTICE", "-rw-r--r-- root/root ./usr/share/doc/fiveways/THIRD-PARTY-NOTICES.gz",
	} {
		if !has(list, want) {
			t.Errorf("the package does not hold %s:\n%s", want, list)
		}
	}
	root := t.TempDir()
	output(t, "dpkg-deb", "--extract", pkg, root)
	settings := output(t, brokertest.Binary(t), "config", "--config", filepath.Join(root, "etc/fiveways/fiveways.toml"))
	if !strings.Contains(settings, "/var/lib/fiveways") {
		t.Errorf("the settings of the package do not name its data folder:\n%s", settings)
	}
	output(t, "dpkg-deb", "--control", pkg, filepath.Join(root, "DEBIAN"))
	for _, script := range []string{"postinst", "prerm", "postrm"} {
		output(t, "sh", "-n", filepath.Join(root, "DEBIAN", script))
	}
}

// has reports whether a line of a listing has the mode, the owner and the path that want names.
func has(list, want string) bool {
	w := strings.Fields(want)
	for line := range strings.Lines(list) {
		if f := strings.Fields(line); len(f) >= 6 && f[0] == w[0] && f[1] == w[1] && f[5] == w[2] {
			return true
		}
	}
	return false
}

func TestPackageVersions(t *testing.T) {
	small := filepath.Join(t.TempDir(), "program")
	must(t, os.WriteFile(small, []byte("#!/bin/sh\n"), 0o700))
	for given, want := range map[string]string{"v0.9.0": "0.9.0", "8dba0f1": "0+8dba0f1", "v1.0.0-dirty": "1.0.0+dirty", "devel": "0+devel"} {
		if got := strings.TrimSpace(output(t, "dpkg-deb", "--field", build(t, small, given), "Version")); got != want {
			t.Errorf("%s becomes %s, want %s", given, got, want)
		}
	}
}

// TestPackageLives checks that the package can be installed, serves as its own user, keeps messages
// and settings when it is removed, and is gone after a purge.
func TestPackageLives(t *testing.T) {
	if os.Getenv("CI") != "true" || os.Geteuid() != 0 {
		t.Skip("installs a package into this system: only as root with CI=true")
	}
	needs(t, "adduser", "setpriv")
	if _, err := os.Stat("/usr/bin/fiveways"); err == nil {
		t.Skip("a package is installed here")
	}
	pkg := build(t, brokertest.Binary(t), "v1.2.3")
	t.Cleanup(func() { exec.Command("dpkg", "--purge", "fiveways").Run() }) //nolint:errcheck // already purged unless the test failed
	output(t, "dpkg", "--install", pkg)
	mode := func(path string) fs.FileMode {
		t.Helper()
		info, err := os.Stat(path)
		must(t, err)
		return info.Mode().Perm()
	}
	const data, settings = "/var/lib/fiveways", "/etc/fiveways/fiveways.toml"
	if mode(data) != 0o700 || mode(settings) != 0o640 {
		t.Errorf("the data folder has mode %o, the settings %o", mode(data), mode(settings))
	}
	served(t, func() {
		output(t, "setpriv", asUser("/usr/bin/fiveways", "vhost", "add", "kept", "--config", settings)...)
	})
	output(t, "dpkg", "--install", pkg) // as an upgrade does
	output(t, "dpkg", "--remove", "fiveways")
	if _, err := os.Stat("/usr/bin/fiveways"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the binary after the removal: %v", err)
	}
	output(t, "dpkg", "--install", pkg)
	served(t, func() {
		if list := output(t, "setpriv", asUser("/usr/bin/fiveways", "vhost", "list", "--config", settings)...); !strings.Contains(list, "kept") {
			t.Errorf("what was there before the removal is gone:\n%s", list)
		}
	})
	output(t, "dpkg", "--purge", "fiveways")
	for _, path := range []string{data, settings} {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s after the purge: %v", path, err)
		}
	}
}

// asUser returns the arguments of setpriv to run a command as the user of the service.
func asUser(command ...string) []string {
	return append([]string{"--reuid=fiveways", "--regid=fiveways", "--init-groups", "--"}, command...)
}

// served runs the broker of the package as the unit would, on free ports, while do runs.
func served(t *testing.T, do func()) {
	t.Helper()
	cmd := exec.Command("setpriv", asUser("/usr/bin/fiveways", "serve", "--config", "/etc/fiveways/fiveways.toml",
		"--amqp", "127.0.0.1:0", "--sql", "off", "--redis", "off", "--etcd", "off", "--http", "off", "--metrics", "off")...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	defer cmd.Process.Kill() //nolint:errcheck // fails only if it has exited
	lines := bufio.NewScanner(stdout)
	ready := false
	for !ready && lines.Scan() {
		ready = strings.HasPrefix(lines.Text(), "Stop with")
	}
	if !ready {
		cmd.Wait() //nolint:errcheck // its output shows any failure
		t.Fatalf("the broker of the package does not serve: %s", &stderr)
	}
	do()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	for lines.Scan() { // until it has closed its output
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("stop: %v: %s", err, &stderr)
	}
}
