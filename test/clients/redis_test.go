package clients

import (
	"os"
	"os/exec"
	"testing"

	"github.com/redis/go-redis/v9"

	"fiveways.dev/fiveways/test/brokertest"
)

// redisURL starts a broker for the test and returns its address for the Redis protocol.
func redisURL(t *testing.T) string {
	t.Helper()
	return "redis://guest:guest@" + brokertest.Run(t, "--redis", "127.0.0.1:0").RedisAddr() + "/0"
}

func TestRedisCLI(t *testing.T) {
	for _, tool := range []string{"redis-cli", "redis-benchmark"} {
		if _, err := exec.LookPath(tool); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
	}
	runScript(t, "", []string{"REDIS_URL=" + redisURL(t)}, "sh", "redis/client.sh")
}

func TestRedisPython(t *testing.T) {
	setUp(t, "python", "python3")
	runScript(t, "", []string{"REDIS_URL=" + redisURL(t)}, ".venv/bin/python", "redis/client.py")
}

func TestRedisNode(t *testing.T) {
	setUp(t, "node", "node", "npm")
	runScript(t, "", []string{"REDIS_URL=" + redisURL(t), "NODE_PATH=node/node_modules"}, "node", "redis/client.js")
}

func TestRedisJava(t *testing.T) {
	setUp(t, "java", "java", "javac", "mvn")
	runScript(t, "", []string{"REDIS_URL=" + redisURL(t), classPath(t)}, "java", "RedisClient")
}

// TestRedisGo uses go-redis in both versions of the protocol.
func TestRedisGo(t *testing.T) {
	o, err := redis.ParseURL(redisURL(t))
	must(t, err)
	for _, version := range []int{2, 3} {
		o.Protocol, o.ClientName = version, "go"
		r := redis.NewClient(o)
		goLists(t, r)
		goTransactions(t, r)
		goChannels(t, r)
		goJobs(t, r)
		goStreams(t, r)
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}
