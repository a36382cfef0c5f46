package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"fiveways.dev/fiveways/test/brokertest"
)

// instructions returns the instructions of a Dockerfile, each on one line, without comments.
func instructions(t *testing.T, path string) (all []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	joined := strings.ReplaceAll(regexp.MustCompile(`(?m)^\s*#.*\n`).ReplaceAllString(string(text), ""), "\\\n", " ")
	for line := range strings.Lines(joined) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}

// stage is what is known of a stage of a Dockerfile. A stage inherits from its base if that is
// another stage.
type stage struct {
	base, user       string
	health           bool
	entrypoint, args bool // they are lists
}

// dockerComplaints checks the rules for the image, which is the last stage.
func dockerComplaints(lines []string) (complaints []string) {
	var s stage
	stages := map[string]stage{}
	name := ""
	for _, line := range lines {
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "FROM":
			stages[name] = s
			words := strings.Fields(rest)
			name = words[len(words)-1]
			earlier, found := stages[words[0]]
			if s = earlier; found {
				continue
			}
			s.base = words[0]
			if s.base != "scratch" && !regexp.MustCompile(`:\d`).MatchString(s.base) || strings.HasSuffix(s.base, ":latest") {
				complaints = append(complaints, "the base image "+s.base+" has no version")
			}
		case "USER":
			s.user = rest
		case "ADD":
			complaints = append(complaints, "ADD may fetch and unpack; COPY does what it says")
		case "HEALTHCHECK":
			s.health = true
			if !strings.Contains(rest, `CMD ["`) {
				complaints = append(complaints, "HEALTHCHECK needs a shell, which the image has not")
			}
		case "ENTRYPOINT":
			s.entrypoint = strings.HasPrefix(rest, "[")
		case "CMD":
			s.args = strings.HasPrefix(rest, "[")
		case "RUN":
			if s.base == "scratch" {
				complaints = append(complaints, "RUN in an image without a shell")
			}
		}
	}
	return append(complaints, s.complaints()...)
}

// complaints checks the rules for the stage that is the image.
func (s stage) complaints() (all []string) {
	if s.base != "scratch" {
		all = append(all, "the image holds more than the binary")
	}
	if uid, _, _ := strings.Cut(s.user, ":"); !regexp.MustCompile(`^[1-9]\d*$`).MatchString(uid) {
		all = append(all, "the image does not run as a user with a number other than 0")
	}
	if !s.health {
		all = append(all, "no HEALTHCHECK")
	}
	if !s.entrypoint || !s.args {
		all = append(all, "ENTRYPOINT and CMD are lists, so that signals reach the broker")
	}
	return all
}

func TestDockerfile(t *testing.T) {
	lines := instructions(t, "../../deploy/docker/Dockerfile")
	for _, c := range dockerComplaints(lines) {
		t.Error(c)
	}
	for name, bad := range map[string][]string{
		"root":   {"FROM scratch", "HEALTHCHECK CMD [\"/x\"]", "ENTRYPOINT [\"/x\"]", "CMD [\"y\"]"},
		"shell":  {"FROM scratch", "USER 5", "HEALTHCHECK CMD /x", "ENTRYPOINT [\"/x\"]", "CMD [\"y\"]"},
		"latest": {"FROM golang", "FROM scratch", "USER 5", "HEALTHCHECK CMD [\"/x\"]", "ENTRYPOINT [\"/x\"]", "CMD [\"y\"]"},
		"later":  {"FROM scratch AS a", "USER 5", "HEALTHCHECK CMD [\"/x\"]", "ENTRYPOINT [\"/x\"]", "CMD [\"y\"]", "FROM a", "USER 0"},
	} {
		if len(dockerComplaints(bad)) != 1 {
			t.Errorf("%s: %q", name, dockerComplaints(bad))
		}
	}
	// hadolint checks more rules, if it is installed.
	if _, err := exec.LookPath("hadolint"); err == nil {
		output(t, "hadolint", "../../deploy/docker/Dockerfile")
	}
}

// imageSettings returns the settings of the image.
func imageSettings(t *testing.T) (settings []string) {
	t.Helper()
	for _, line := range instructions(t, "../../deploy/docker/Dockerfile") {
		if rest, ok := strings.CutPrefix(line, "ENV "); ok {
			settings = append(settings, strings.Fields(rest)...)
		}
	}
	return settings
}

// TestDockerfileFits checks that what the Dockerfile sets, builds and copies exists: its settings
// are settings of the broker, and its version is a variable of the program.
func TestDockerfileFits(t *testing.T) {
	settings := imageSettings(t)
	if len(settings) < 3 {
		t.Fatalf("settings %q", settings)
	}
	cmd := exec.Command(brokertest.Binary(t), "config")
	cmd.Env = append(os.Environ(), settings...)
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "0.0.0.0:15672") {
		t.Errorf("%v\n%s", err, out)
	}
	modules, err := os.ReadFile("../../go.mod")
	must(t, err)
	_, rest, _ := strings.Cut(string(modules), "\ngo ")
	version := regexp.MustCompile(`^\d+\.\d+`).FindString(rest)
	if lines := instructions(t, "../../deploy/docker/Dockerfile"); !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "FROM golang:"+version) }) {
		t.Errorf("go.mod wants Go %s: %q", version, lines)
	}
}

func TestUnit(t *testing.T) {
	needs(t, "systemd-analyze")
	unit, err := os.ReadFile("../../deploy/systemd/fiveways.service")
	must(t, err)
	// The check needs the program and, for a manual page, man.
	text := strings.ReplaceAll(string(unit), "/usr/bin/fiveways", brokertest.Binary(t))
	text = regexp.MustCompile(`(?m)^Documentation=.*\n`).ReplaceAllString(text, "")
	path := filepath.Join(t.TempDir(), "fiveways.service")
	must(t, os.WriteFile(path, []byte(text), 0o600))
	if out := output(t, "systemd-analyze", "verify", path); strings.TrimSpace(out) != "" {
		t.Errorf("systemd-analyze verify: %s", out)
	}
}

// must fails the test at once if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
