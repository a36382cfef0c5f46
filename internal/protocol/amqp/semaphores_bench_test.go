package amqp

import (
	"fmt"
	"testing"

	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"
)

// BenchmarkSemaphoreRequests sends requests and reads answers on one connection, many at a time:
// tasks are enqueued, and released when they run.
func BenchmarkSemaphoreRequests(b *testing.B) {
	const ahead = 200
	n := startSemaphores(b)
	c := n.login()
	c.listen(1)
	c.request(1, "c", `{"op":"create","semaphore":"k","active":100}`)
	c.answer(1, "c")
	props := message.Properties{Flags: message.HasReplyTo, ReplyTo: replyQueue}
	raw := props.Append(nil)
	var burst []byte
	b.ResetTimer()
	for sent := 0; sent < b.N; {
		burst = burst[:0]
		for range min(ahead, b.N-sent) {
			op := `{"op":"enqueue","semaphore":"k","task":%d,"priority":1}`
			if sent%2 == 1 {
				op = `{"op":"release","semaphore":"k","task":%d}`
			}
			burst = amqpwire.AppendPublish(burst, 1, "", semaphoreQueue, false, raw, fmt.Appendf(nil, op, sent/2), 4096)
			sent++
		}
		c.write(burst)
		for range min(ahead, (sent-1)%ahead+1) {
			expect[*amqpwire.BasicDeliver](c, 1)
			c.content()
		}
	}
}
