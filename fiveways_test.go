package fiveways_test

import (
	"context"
	"fmt"
	"os"

	amqp "github.com/rabbitmq/amqp091-go"

	"fiveways.dev/fiveways"
)

func Example() {
	dir, err := os.MkdirTemp("", "fiveways")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	b, err := fiveways.Start(fiveways.Options{Data: dir})
	if err != nil {
		panic(err)
	}
	defer b.Stop(context.Background())

	conn, err := amqp.Dial(b.AMQPURL())
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err != nil {
		panic(err)
	}
	q, err := ch.QueueDeclare("hello", true, false, false, false, nil)
	if err != nil {
		panic(err)
	}
	if err := ch.Publish("", q.Name, false, false, amqp.Publishing{Body: []byte("hi")}); err != nil {
		panic(err)
	}
	d, ok, err := ch.Get(q.Name, true)
	fmt.Println(string(d.Body), ok, err)
	// Output: hi true <nil>
}
