package clients

import (
	"bytes"
	"os"
	"os/exec"
	"testing"

	"fiveways.dev/fiveways/test/brokertest"
	"fiveways.dev/fiveways/test/etcdd"
)

// etcdAddr returns the address of the etcd API of a broker for the test. With ETCD_PEER it is that
// server, a real etcd, and queues are left out.
func etcdAddr(t *testing.T) (addr, queues string) {
	t.Helper()
	if peer := os.Getenv("ETCD_PEER"); peer != "" {
		return peer, "no"
	}
	return brokertest.Run(t, "--etcd", "127.0.0.1:0").EtcdAddr(), "yes"
}

func etcdEnv(t *testing.T) []string {
	addr, queues := etcdAddr(t)
	return []string{"ETCD_ADDR=" + addr, "QUEUES=" + queues}
}

// needEtcdctl skips the test if etcdctl is missing. In CI it is installed first.
func needEtcdctl(t *testing.T) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		var output bytes.Buffer
		if err := etcdd.Install(&output); err != nil {
			t.Fatalf("%v\n%s", err, output.Bytes())
		}
	}
	if _, err := exec.LookPath("etcdctl"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}

func TestEtcdctl(t *testing.T) {
	needEtcdctl(t)
	runScript(t, "", etcdEnv(t), "sh", "etcd/client.sh")
}

func TestEtcdPython(t *testing.T) {
	setUp(t, "etcd_python", "python3")
	runScript(t, "", etcdEnv(t), ".venv-etcd/bin/python", "etcd/client.py")
}

func TestEtcdJava(t *testing.T) {
	setUp(t, "java", "java", "javac", "mvn")
	runScript(t, "", append(etcdEnv(t), classPath(t)), "java", "EtcdClient")
}
