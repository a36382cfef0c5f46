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

const (
	chart = "../../deploy/kubernetes/fiveways"
	alive = "/livez" // requested by probes, and by TestImage
)

// object has the fields of a Kubernetes object that the tests check.
type object struct {
	Kind     string
	Metadata struct{ Name, Namespace string }
	Spec     struct {
		Replicas                 int
		ServiceName              string
		PodManagementPolicy      string
		MaxUnavailable           int
		ClusterIP                string
		PublishNotReadyAddresses bool
		Selector                 map[string]any
		Ports                    []struct{ TargetPort string }
		Template                 struct {
			Metadata struct{ Labels map[string]string }
			Spec     pod
		}
	}
}

// pod has the fields of a pod that the tests check.
type pod struct {
	EnableServiceLinks bool
	Affinity           struct {
		PodAntiAffinity map[string]any
	}
	Containers []container
	Volumes    []struct {
		Name   string
		Secret struct {
			SecretName string
			Optional   bool
		}
	}
}

// container has the fields of a container that the tests check.
type container struct {
	Args                                        []string
	Env                                         []variable
	Ports                                       []struct{ Name string }
	StartupProbe, LivenessProbe, ReadinessProbe struct{ HTTPGet struct{ Path, Port string } }
	Lifecycle                                   struct {
		PreStop struct{ Exec struct{ Command []string } }
	}
	VolumeMounts []struct{ Name, MountPath string }
}

// variable is an environment variable of a container. ValueFrom is the source of its value.
type variable struct {
	Name, Value string
	ValueFrom   map[string]any
}

// rendered returns the objects of the chart by kind and name, and checks that helm's lint and the
// types of Kubernetes accept them.
func rendered(t *testing.T, tool string, values ...string) map[string]*object {
	t.Helper()
	out, err := exec.Command(tool, append([]string{chart}, values...)...).Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", values, err, err.(*exec.ExitError).Stderr)
	}
	var all []*object
	must(t, json.Unmarshal(out, &all))
	byName := map[string]*object{}
	for _, o := range all {
		byName[o.Kind+" "+o.Metadata.Name] = o
	}
	return byName
}

// TestChart checks that the objects of the chart are consistent with each other and with the
// program that they run.
func TestChart(t *testing.T) {
	tool := builtTool(t, "kubernetes")
	all := rendered(t, tool)
	set, nodes, clients, budget := all["StatefulSet mq"], all["Service mq-nodes"], all["Service mq"], all["PodDisruptionBudget mq"]
	if len(all) != 4 || set == nil || nodes == nil || clients == nil || budget == nil {
		t.Fatalf("objects: %v", all)
	}
	if s := set.Spec; s.Replicas != 3 || s.ServiceName != "mq-nodes" || s.PodManagementPolicy != "Parallel" || len(s.Template.Spec.Affinity.PodAntiAffinity) != 1 {
		t.Errorf("the nodes: %+v", s)
	}
	if s := nodes.Spec; s.ClusterIP != "None" || !s.PublishNotReadyAddresses {
		t.Errorf("the service of the nodes: %+v", s)
	}
	if budget.Spec.MaxUnavailable != 1 {
		t.Errorf("%d nodes may be stopped at once", budget.Spec.MaxUnavailable)
	}
	for _, s := range []*object{nodes, clients} {
		for key, want := range s.Spec.Selector {
			if set.Spec.Template.Metadata.Labels[key] != want {
				t.Errorf("%s selects %v", s.Metadata.Name, s.Spec.Selector)
			}
		}
		for _, p := range s.Spec.Ports {
			if !slices.ContainsFunc(set.Spec.Template.Spec.Containers[0].Ports, func(c struct{ Name string }) bool { return c.Name == p.TargetPort }) {
				t.Errorf("%s sends to port %s", s.Metadata.Name, p.TargetPort)
			}
		}
	}
	checkPod(t, &set.Spec.Template.Spec)
}

// checkPod checks that a pod runs a node, and that only mq-0 founds a cluster.
func checkPod(t *testing.T, p *pod) {
	t.Helper()
	c := p.Containers[0]
	settings := podSettings(c.Env)
	if settings["FIVEWAYS_CLUSTER_FOUND"] != "mq-0" || settings["FIVEWAYS_CLUSTER_ADVERTISE"] != "mq-1.mq-nodes.queues.svc:5680" {
		t.Errorf("settings: %v", settings)
	}
	goodSettings(t, settings)
	if join := p.Volumes[0]; join.Secret.SecretName != "fiveways-join" || !join.Secret.Optional || !strings.HasPrefix(settings["FIVEWAYS_CLUSTER_JOIN_FILE"], c.VolumeMounts[1].MountPath+"/") || c.VolumeMounts[1].Name != join.Name {
		t.Errorf("the token: %+v, %+v", p.Volumes, c.VolumeMounts)
	}
	checkProbes(t, &c)
	if p.EnableServiceLinks || !slices.Equal(c.Args, []string{"serve"}) {
		t.Errorf("variables of services: %v; %q", p.EnableServiceLinks, c.Args)
	}
	stop := c.Lifecycle.PreStop.Exec.Command
	out, err := exec.Command(brokertest.Binary(t), append(stop[1:], "--data", filepath.Join(t.TempDir(), "none"))...).CombinedOutput()
	if stop[0] != "/usr/bin/fiveways" || err == nil || !strings.Contains(string(out), "no node of a cluster runs") {
		t.Errorf("%q: %v, %s", stop, err, out)
	}
}

func checkProbes(t *testing.T, c *container) {
	t.Helper()
	if c.StartupProbe.HTTPGet.Path != alive || c.LivenessProbe.HTTPGet.Path != alive || c.ReadinessProbe.HTTPGet.Path != "/readyz" {
		t.Errorf("probes: %+v, %+v, %+v", c.StartupProbe, c.LivenessProbe, c.ReadinessProbe)
	}
}

// podSettings returns the settings of mq-1.
func podSettings(env []variable) map[string]string {
	settings := map[string]string{}
	for _, v := range env {
		if v.ValueFrom != nil {
			v.Value = "mq-1"
		}
		settings[v.Name] = strings.ReplaceAll(v.Value, "$(FIVEWAYS_NODE_NAME)", "mq-1")
	}
	return settings
}

// TestChartValues checks that values are used, and that a missing value is reported.
func TestChartValues(t *testing.T) {
	tool := builtTool(t, "kubernetes")
	checkAlone(t, rendered(t, tool, "replicas=1"))
	pod := rendered(t, tool, "defaultUser=ann", "passwordSecret=ann", "settings.memory_limit=1GiB", "antiAffinity=preferred",
		"tolerations[0].key=queues", "nodeSelector.disk=ssd", "podAnnotations.a=b", "service.annotations.a=b", "storage.className=fast")["StatefulSet mq"].Spec.Template.Spec
	settings := podSettings(pod.Containers[0].Env)
	if settings["FIVEWAYS_MEMORY_LIMIT"] != "1GiB" || settings["FIVEWAYS_DEFAULT_USER"] != "ann" {
		t.Errorf("settings: %v", settings)
	}
	goodSettings(t, settings)
	numbers := filepath.Join(t.TempDir(), "values.yaml")
	must(t, os.WriteFile(numbers, []byte("settings: {memory_limit: 1073741824, max_connections: 2000000, shards: 2, heartbeat: 30s}\n"), 0o600))
	settings = podSettings(rendered(t, tool, "@"+numbers)["StatefulSet mq"].Spec.Template.Spec.Containers[0].Env)
	if settings["FIVEWAYS_MEMORY_LIMIT"] != "1073741824" || settings["FIVEWAYS_MAX_CONNECTIONS"] != "2000000" || settings["FIVEWAYS_HEARTBEAT"] != "30s" {
		t.Errorf("numbers: %v", settings)
	}
	goodSettings(t, settings)
	if out, err := exec.Command(tool, chart, "defaultUser=ann").CombinedOutput(); err == nil || !strings.Contains(string(out), "passwordSecret") {
		t.Errorf("a user without a password: %v, %s", err, out)
	}
}

// checkAlone checks that a single pod is a broker without a cluster that does not wait for a
// secret.
func checkAlone(t *testing.T, all map[string]*object) {
	t.Helper()
	set := all["StatefulSet mq"]
	c := set.Spec.Template.Spec.Containers[0]
	settings := podSettings(c.Env)
	for key := range settings {
		if strings.HasPrefix(key, "FIVEWAYS_CLUSTER_") {
			t.Errorf("a broker alone has %s", key)
		}
	}
	goodSettings(t, settings)
	if set.Spec.Replicas != 1 || len(set.Spec.Template.Spec.Volumes) != 0 || len(c.VolumeMounts) != 1 || c.Lifecycle.PreStop.Exec.Command != nil {
		t.Errorf("%+v", set.Spec)
	}
	checkProbes(t, &c)
}
