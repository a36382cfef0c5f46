package packaging

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fiveways.dev/fiveways/test/brokertest"
)

// builtTool builds a program that is a separate module. If its dependencies are not available the
// test is skipped, but fails in CI.
func builtTool(t *testing.T, module string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "tool")
	cmd := exec.Command("go", "build", "-o", path, ".")
	cmd.Dir = module
	if out, err := cmd.CombinedOutput(); err != nil {
		giveUp(t, "%s cannot be built here: %v\n%s", module, err, out)
	}
	return path
}

// giveUp skips a test that needs something from the network, but fails it in CI.
func giveUp(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// service is a service of a Compose file.
type service struct {
	Environment map[string]string
	Command     []string
	Healthcheck struct {
		Test    []string
		Disable bool
	}
	Volumes   []struct{ Source, Target string }
	DependsOn map[string]struct{ Condition string } `json:"depends_on"`
}

// at returns the volume that a service has in a folder.
func (s *service) at(folder string) string {
	for _, v := range s.Volumes {
		if strings.HasPrefix(folder, v.Target+"/") || folder == v.Target {
			return v.Source
		}
	}
	return ""
}

// composed returns the services of a Compose file as Compose reads it. The file requires a
// password.
func composed(t *testing.T, tool, file string) map[string]*service {
	t.Helper()
	cmd := exec.Command(tool, file)
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "FIVEWAYS_PASSWORD") {
		t.Errorf("without a password: %v, %s", err, out)
	}
	cmd = exec.Command(tool, file)
	cmd.Env = append(os.Environ(), "FIVEWAYS_PASSWORD=secret")
	cmd.Stderr = os.Stderr
	var project struct{ Services map[string]*service }
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &project)
	}
	must(t, err)
	return project.Services
}

// TestCompose checks that one file defines a broker that keeps its data in a volume, and the other
// a cluster.
func TestCompose(t *testing.T) {
	tool := builtTool(t, "compose")
	single := composed(t, tool, "../../deploy/compose.single.yaml")
	broker := single["fiveways"]
	if len(single) != 1 || broker == nil || broker.at("/var/lib/fiveways") != "data" {
		t.Fatalf("services: %v", single)
	}
	goodSettings(t, broker.Environment)
	checkCluster(t, composed(t, tool, "../../deploy/compose.yaml"))
}

// checkCluster checks that the services are three nodes with valid and consistent settings, and one
// service that writes a token to where the nodes look for it.
func checkCluster(t *testing.T, all map[string]*service) {
	t.Helper()
	token := all["token"]
	if len(all) != 4 || token == nil {
		t.Fatalf("services: %v", all)
	}
	delete(all, "token")
	for name, s := range all {
		set := s.Environment
		if set["FIVEWAYS_NODE_NAME"] != name || set["FIVEWAYS_CLUSTER_ADVERTISE"] != name+":5680" {
			t.Errorf("%s is called %s, at %s", name, set["FIVEWAYS_NODE_NAME"], set["FIVEWAYS_CLUSTER_ADVERTISE"])
		}
		if all[set["FIVEWAYS_CLUSTER_FOUND"]] != all["n1"] {
			t.Errorf("%s takes %s for the founder", name, set["FIVEWAYS_CLUSTER_FOUND"])
		}
		if s.at("/var/lib/fiveways") != name || s.at(set["FIVEWAYS_CLUSTER_JOIN_FILE"]) != "join" {
			t.Errorf("volumes of %s: %v", name, s.Volumes)
		}
		if !slices.Equal(s.Healthcheck.Test, []string{"CMD", "/usr/bin/fiveways", "health"}) {
			t.Errorf("health of %s: %q", name, s.Healthcheck.Test)
		}
		goodSettings(t, set)
	}
	if file := token.Command[len(token.Command)-1]; file != all["n1"].Environment["FIVEWAYS_CLUSTER_JOIN_FILE"] || token.at(file) != "join" || token.at("/var/lib/fiveways") != "n1" {
		t.Errorf("the token goes to %s; %v", file, token.Volumes)
	}
	if token.DependsOn["n1"].Condition != "service_healthy" || len(token.DependsOn) != 1 {
		t.Errorf("the token waits for %v", token.DependsOn)
	}
	out, err := exec.Command(brokertest.Binary(t), append(token.Command, "--data", t.TempDir())...).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "no node of a cluster runs") {
		t.Errorf("%q: %v, %s", token.Command, err, out)
	}
}

// goodSettings lets the program check the settings of a container, which include those of the
// image.
func goodSettings(t *testing.T, set map[string]string) {
	t.Helper()
	cmd := exec.Command(brokertest.Binary(t), "config")
	cmd.Env = append(os.Environ(), imageSettings(t)...)
	for key, value := range set {
		cmd.Env = append(cmd.Env, key+"="+value)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %v\n%s", set, err, out)
	}
}
