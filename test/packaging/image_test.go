package packaging

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"fiveways.dev/fiveways/test/brokertest"
)

// builder is buildah with its own storage. It needs no daemon and no registry.
type builder struct {
	t     *testing.T
	store []string
}

func newBuilder(t *testing.T) *builder {
	t.Helper()
	needs(t, "buildah", "unshare")
	if os.Geteuid() != 0 || exec.Command("unshare", "--mount", "true").Run() != nil {
		t.Skip("builds and runs an image only as root that may mount")
	}
	dir := t.TempDir()
	return &builder{t, []string{"--root", filepath.Join(dir, "images"), "--runroot", filepath.Join(dir, "run"), "--storage-driver", "vfs"}}
}

// command returns a buildah command.
func (b *builder) command(args ...string) *exec.Cmd {
	return exec.Command("buildah", slices.Concat(b.store, args)...)
}

// do runs a buildah command and returns its output.
func (b *builder) do(args ...string) string {
	b.t.Helper()
	return strings.TrimSpace(output(b.t, "buildah", slices.Concat(b.store, args)...))
}

// image builds a release's image with a binary.
func (b *builder) image() (name string) {
	b.t.Helper()
	folder := b.t.TempDir()
	output(b.t, "../../deploy/docker/root", brokertest.Binary(b.t), filepath.Join(folder, "linux/amd64"))
	b.do("build", "--isolation", "chroot", "--format", "docker", "--platform", "linux/amd64", "--target", "release",
		"--file", "../../deploy/docker/Dockerfile", "--tag", "fiveways", folder)
	return "fiveways"
}

// TestImage checks that a container of the image runs as a user other than root, is healthy, and
// logs JSON.
func TestImage(t *testing.T) {
	b := newBuilder(t)
	container := b.do("from", b.image())
	for _, path := range []string{"usr/share/doc/fiveways/THIRD-PARTY-NOTICES", "usr/share/doc/fiveways/LICENSE", "usr/share/doc/fiveways/NOTICE"} {
		if _, err := os.Stat(filepath.Join(b.do("mount", container), path)); err != nil {
			t.Error(err)
		}
	}
	log, addresses := b.serve(container)
	if out := b.do("run", "--isolation", "chroot", container, "--", "/usr/bin/fiveways", "health"); out != "ok" {
		t.Errorf("health: %s", out)
	}
	lives, err := http.Get("http://" + addresses["metrics"] + alive)
	if err != nil || lives.StatusCode != http.StatusOK {
		t.Fatalf("%v, %v", lives, err)
	}
	_ = lives.Body.Close()
	res, err := http.Get("http://wrong:wrong@" + addresses["http"] + "/api/overview")
	must(t, err)
	defer func() { _ = res.Body.Close() }()
	if l := next(t, log); l.Level != "WARN" {
		t.Errorf("a failed login is logged as %+v", l)
	}
	volume, err := filepath.Glob(filepath.Join(b.store[1], "vfs-containers/*/userdata/buildah-volumes/*/admin.sock"))
	if err != nil || len(volume) != 1 {
		t.Fatalf("%q, %v", volume, err)
	}
	if socket, err := os.Stat(volume[0]); err != nil || socket.Sys().(*syscall.Stat_t).Uid != 65532 {
		t.Errorf("the socket of the broker is not of user 65532: %v, %v", socket, err)
	}
}

// serve runs the container on free ports until the test ends. It returns the log, read up to the
// line that says that it serves, and the address of each protocol.
func (b *builder) serve(container string) (log *bufio.Scanner, addresses map[string]string) {
	b.t.Helper()
	args := []string{"run", "--isolation", "chroot"}
	for _, protocol := range []string{"AMQP", "SQL", "REDIS", "ETCD", "HTTP", "METRICS"} {
		args = append(args, "--env", "FIVEWAYS_"+protocol+"=127.0.0.1:0")
	}
	cmd := b.command(append(args, container, "--", "/usr/bin/fiveways", "serve")...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		b.t.Fatal(err)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that the broker in it is killed too
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) //nolint:errcheck // fails only if it has exited
		cmd.Wait()                                      //nolint:errcheck // it was killed
	})
	log = bufio.NewScanner(stderr)
	for {
		if l := next(b.t, log); l.Msg == "serving" {
			return log, l.Addresses
		}
	}
}

// line is a line of a JSON log.
type line struct {
	Level, Msg string
	Addresses  map[string]string
}

// next reads the next line of a log.
func next(t *testing.T, log *bufio.Scanner) (l line) {
	t.Helper()
	if !log.Scan() {
		t.Fatalf("the log has ended: %v", log.Err())
	}
	if err := json.Unmarshal(log.Bytes(), &l); err != nil || l.Msg == "" {
		t.Fatalf("%q is no line in JSON: %v", log.Text(), err)
	}
	return l
}
