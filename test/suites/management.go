package suites

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"fiveways.dev/fiveways/test/brokertest"
	"fiveways.dev/fiveways/test/rabbitmq"
)

// managementPort is the port of the management API in the sources of its clients' suites.
const managementPort = "15672"

// startManaged starts the broker under test on the ports that clients of the management API have in
// their sources, since some cases ask which ports there are.
func startManaged(t *testing.T, name string) (server, error) {
	t.Helper()
	if err := awaitPorts(ownPort, managementPort); err != nil {
		return server{}, err
	}
	s := server{addr: "127.0.0.1:" + ownPort}
	if name == failsOnFiveways {
		dir, err := os.MkdirTemp("", "suites-")
		if err != nil {
			return server{}, err
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		b, err := brokertest.Start(t.Context(), dir, "--amqp", s.addr, "--http", "127.0.0.1:"+managementPort, "--node-name", "rabbit@localhost")
		if err != nil {
			return server{}, err
		}
		t.Cleanup(b.Kill)
		return s, nil
	}
	n, err := rabbitmq.Serve(rabbitmq.Options{AMQP: portNumber(ownPort), HTTP: portNumber(managementPort), Plugins: []string{
		"rabbitmq_shovel", "rabbitmq_shovel_management", "rabbitmq_federation", "rabbitmq_federation_management",
	}})
	if err != nil {
		return server{}, err
	}
	t.Cleanup(n.Close)
	s.ctl = n.Ctl
	return s, nil
}

func portNumber(port string) int {
	n, err := strconv.Atoi(port)
	if err != nil {
		panic(err)
	}
	return n
}

// awaitPorts waits until ports of this machine are free, for as long as another suite may run.
func awaitPorts(ports ...string) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(portPatience); ; <-tick.C {
		err := free(ports)
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("suites: something else listens on a port that the suite has in its sources: %w", err)
		}
	}
}

func free(ports []string) error {
	for _, port := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:"+port)
		if err != nil {
			return err
		}
		if err := l.Close(); err != nil {
			return err
		}
	}
	return nil
}

// request is one request to the management API.
type request struct{ method, path, body string }

// rabbitHoleRequests are equivalent to the rabbitmqctl commands in rabbit-hole's
// bin/ci/before_build.sh.
var rabbitHoleRequests = []request{
	{http.MethodPut, "users/policymaker", `{"password":"policymaker","tags":"policymaker"}`},
	{http.MethodPut, "permissions/%2F/policymaker", `{"configure":".*","write":".*","read":".*"}`},
	{http.MethodPut, "vhosts/rabbit%2Fhole", `{}`},
	{http.MethodPut, "permissions/rabbit%2Fhole/guest", `{"configure":".*","write":".*","read":".*"}`},
	{http.MethodPut, "cluster-name", `{"name":"rabbitmq@localhost"}`},
}

// rabbitHoleStatistics is the part of that script which makes RabbitMQ keep one sample per second.
// Fiveways keeps all samples.
var rabbitHoleStatistics = []string{
	`supervisor2:terminate_child(rabbit_mgmt_sup_sup, rabbit_mgmt_sup), application:set_env(rabbitmq_management, sample_retention_policies, ` +
		`[{global, [{605, 1}]}, {basic, [{605, 1}]}, {detailed, [{10, 1}]}]), rabbit_mgmt_sup_sup:start_child().`,
	`supervisor2:terminate_child(rabbit_mgmt_agent_sup_sup, rabbit_mgmt_agent_sup), application:set_env(rabbitmq_management_agent, sample_retention_policies, ` +
		`[{global, [{605, 1}]}, {basic, [{605, 1}]}, {detailed, [{10, 1}]}]), rabbit_mgmt_agent_sup_sup:start_child().`,
}

// prepare sets the broker up as rabbit-hole expects it.
func (s server) prepare(requests []request) error {
	if s.ctl != nil {
		for _, expression := range rabbitHoleStatistics {
			if _, err := s.ctl("eval", expression); err != nil {
				return err
			}
		}
	}
	for _, r := range requests {
		if err := r.send(); err != nil {
			return err
		}
	}
	return nil
}

func (r request) send() error {
	out, err := http.NewRequest(r.method, "http://127.0.0.1:"+managementPort+"/api/"+r.path, strings.NewReader(r.body))
	if err != nil {
		return err
	}
	out.SetBasicAuth("guest", "guest")
	in, err := http.DefaultClient.Do(out)
	if err != nil {
		return err
	}
	in.Body.Close() //nolint:errcheck // it was not read
	if in.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("suites: %s %s: %s", r.method, r.path, in.Status)
	}
	return nil
}
