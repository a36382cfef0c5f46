package packaging

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"fiveways.dev/fiveways/test/brokertest"
)

const scaledObject = "../../deploy/keda/scaledobject.yaml"

// kedaQueue has the fields of a queue that KEDA's scaler for RabbitMQ reads (2.21,
// pkg/scalers/rabbitmq_scaler.go).
type kedaQueue struct {
	Name          string
	Messages      int
	MessagesReady int `json:"messages_ready"`
	Stats         struct {
		Publish    struct{ Rate *float64 } `json:"publish_details"`
		DeliverGet struct{ Rate *float64 } `json:"deliver_get_details"`
	} `json:"message_stats"`
}

// setting returns the value of a key in the KEDA example.
func setting(t *testing.T, key string) string {
	t.Helper()
	text, err := os.ReadFile(scaledObject)
	must(t, err)
	m := regexp.MustCompile(`(?m)^ +` + key + `: "?([^" #\n]+)`).FindStringSubmatch(string(text))
	if m == nil {
		t.Fatalf("the example has no %s", key)
	}
	return m[1]
}

// commented runs the commands in the comment at the beginning of a file, for the broker on a
// folder.
func commented(t *testing.T, file, data string) {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	path := t.TempDir()
	must(t, os.Symlink(brokertest.Binary(t), filepath.Join(path, "fiveways")))
	t.Setenv("PATH", path+":"+os.Getenv("PATH"))
	t.Setenv("FIVEWAYS_DATA", data)
	for _, line := range regexp.MustCompile(`(?m)^#   (.*)$`).FindAllStringSubmatch(string(text), -1) {
		output(t, "sh", "-c", line[1])
	}
}

// TestKEDA checks that KEDA's requests for the example, as the user that the example creates, are
// answered with what KEDA reads. The test imitates the requests, because KEDA has too many sources
// to build here.
func TestKEDA(t *testing.T) {
	data := t.TempDir()
	b, err := brokertest.Start(t.Context(), data, "--http", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(b.Kill)
	commented(t, scaledObject, data)
	host, err := url.Parse(setting(t, "host"))
	must(t, err)
	host.Host, host.Path = b.HTTPAddr(), ""
	name, channel := setting(t, "queueName"), filled(t, b.URL(), setting(t, "queueName"))

	var one kedaQueue
	getAs(t, host.String()+"/api/queues/%2F/"+url.QueryEscape(name), &one)
	if one.Name != name || one.Messages != 3 || one.MessagesReady != 2 || one.Stats.Publish.Rate == nil || one.Stats.DeliverGet.Rate == nil {
		t.Errorf("the queue is %+v", one)
	}
	var all struct {
		Items []kedaQueue
		Pages int `json:"page_count"`
	}
	getAs(t, host.String()+"/api/queues/%2F?page=1&use_regex=true&pagination=false&name="+url.QueryEscape("^ma.ls$")+"&page_size=100", &all)
	if all.Pages != 1 || len(all.Items) != 1 || all.Items[0].Messages != 3 {
		t.Errorf("the queues are %+v", all)
	}
	// protocol: amqp
	if q, err := channel.QueueDeclarePassive(name, false, false, false, false, amqp.Table{}); err != nil || q.Messages != 2 {
		t.Errorf("passive declaration: %+v, %v", q, err)
	}
}

// filled creates a queue with three messages, one of which a consumer holds.
func filled(t *testing.T, broker, queue string) *amqp.Channel {
	t.Helper()
	conn, err := amqp.Dial(broker)
	must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	ch, err := conn.Channel()
	if err == nil {
		err = ch.Confirm(false)
	}
	if err == nil {
		_, err = ch.QueueDeclare(queue, true, false, false, false, nil)
	}
	for range 3 {
		var confirmed *amqp.DeferredConfirmation
		if err == nil {
			confirmed, err = ch.PublishWithDeferredConfirm("", queue, false, false, amqp.Publishing{})
		}
		if err == nil {
			confirmed.Wait()
		}
	}
	if err == nil {
		_, _, err = ch.Get(queue, false)
	}
	must(t, err)
	return ch
}

// getAs reads JSON from a URL that contains a user and a password.
func getAs(t *testing.T, from string, into any) {
	t.Helper()
	res, err := http.Get(from)
	must(t, err)
	defer func() { _ = res.Body.Close() }()
	if err := json.NewDecoder(res.Body).Decode(into); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d, %v", from, res.StatusCode, err)
	}
}
