package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"fiveways.dev/fiveways/test/brokertest"
)

// packed returns a folder with the files of a release of a binary.
func packed(t *testing.T, binary string) (dir string) {
	t.Helper()
	needs(t, "dpkg-deb", "gzip", "tar")
	dir = t.TempDir()
	cmd := exec.Command("../../deploy/release/pack", binary, brokertest.Binary(t), "v0.1.0", "linux", "arm64", dir)
	cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=1700000000", "DPKG_DEB_COMPRESSOR_LEVEL=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

const archive = "fiveways_0.1.0_linux_arm64.tar.gz"

// TestRelease checks that an archive has everything below one folder, with the time of the commit,
// and that the archive and the package are reproducible byte by byte.
func TestRelease(t *testing.T) {
	const deb = "fiveways_0.1.0_arm64.deb"
	text := "../../NOTICE" // stands for the binary, which is not run and would take longer
	first, second := packed(t, text), packed(t, text)
	for _, name := range []string{archive, deb} {
		output(t, "cmp", filepath.Join(first, name), filepath.Join(second, name))
	}
	if got := strings.TrimSpace(output(t, "dpkg-deb", "--field", filepath.Join(first, deb), "Architecture")); got != "arm64" {
		t.Errorf("the package is for %s", got)
	}
	t.Setenv("TZ", "UTC")
	list := output(t, "tar", "--list", "--verbose", "--gzip", "--file", filepath.Join(first, archive))
	for _, file := range []string{
		"fiveways", "LICENSE", "NOTICE", "THIRD-PARTY-NOTICES", "README.md", "CHANGELOG.md", "SECURITY.md", "fiveways.toml", "fiveways.1",
		"completions/fiveways.bash", "completions/_fiveways", "completions/fiveways.fish",
	} {
		mode := "-rw-r--r--"
		if file == "fiveways" {
			mode = "-rwxr-xr-x"
		}
		if !has(list, mode+" 0/0 fiveways_0.1.0_linux_arm64/"+file) {
			t.Errorf("the archive does not hold %s:\n%s", file, list)
		}
	}
	for line := range strings.Lines(list) {
		if !strings.Contains(line, "2023-11-14 22:13") {
			t.Errorf("another time: %s", line)
		}
	}
}

// TestNewcomer checks that, in a root with nothing but the archive of a release, messages pass
// through a broker in less than 30 seconds.
func TestNewcomer(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("changes its root, which only root may")
	}
	root := t.TempDir()
	from := filepath.Join(packed(t, brokertest.Binary(t)), archive)
	began := time.Now()
	output(t, "tar", "--extract", "--gzip", "--file", from, "--directory", root)
	must(t, os.Mkdir(filepath.Join(root, "tmp"), 0o700))
	cmd := exec.Command("/fiveways_0.1.0_linux_arm64/fiveways", "demo")
	cmd.Dir, cmd.Env, cmd.SysProcAttr = "/", []string{}, &syscall.SysProcAttr{Chroot: root}
	out, err := cmd.CombinedOutput()
	if took := time.Since(began); err != nil || !strings.Contains(string(out), "as expected") || took > 30*time.Second {
		t.Errorf("after %v: %v\n%s", took, err, out)
	}
}

// TestReleaseRefuses checks that only versions of three numbers are released.
func TestReleaseRefuses(t *testing.T) {
	for _, version := range []string{"", "0.1.0", "v0.1", "v0.1.0-4-gabc", "v0.1.0\n"} {
		out, err := exec.Command("../../deploy/release/build", version, filepath.Join(t.TempDir(), "none")).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "VERSION is like v0.1.0") {
			t.Errorf("%q: %v, %s", version, err, out)
		}
	}
}
