// Command go sends three requests through a queue and answers them, with the etcd client
// (go.etcd.io/etcd/client/v3).
//
// ETCDCTL_ENDPOINTS is the address of the broker (default 127.0.0.1:2379).
package main

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"os"
	"path"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
)

func main() {
	ctx := context.Background()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{cmp.Or(os.Getenv("ETCDCTL_ENDPOINTS"), "127.0.0.1:2379")}})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	// The last part of a key is the message's own name, here the sender and the number of the
	// question. A put is answered when the message is on disk.
	for i, question := range []string{"1 2", "20 22", "300 400"} {
		_, err := c.Put(ctx, fmt.Sprintf("/q/examples.sums/p/ann.%d", i+1), question)
		must(err)
		fmt.Printf("ann asks %d: %s\n", i+1, question)
	}

	// A watch registers a consumer. What it does not acknowledge goes to other consumers when the
	// watch ends.
	consume(c, "/q/examples.sums/c/eve/", 1, func(key, name, question string) {
		fmt.Println("eve takes", name, "and goes home")
	})
	consume(c, "/q/examples.sums/c/bob/", 3, func(key, name, question string) {
		var a, b int
		fmt.Sscan(question, &a, &b)
		asker, number, _ := strings.Cut(name, ".")
		// The question is acknowledged and its answer sent in one transaction, so a crash leaves
		// both or neither.
		r, err := c.Txn(ctx).If(clientv3.Compare(clientv3.Version(key), ">", 0)).
			Then(clientv3.OpDelete(key), clientv3.OpPut("/q/examples.answers."+asker+"/p/"+number, fmt.Sprint(a+b))).Commit()
		must(err)
		if r.Succeeded { // otherwise another consumer has it now
			fmt.Println("bob answers", name)
		}
	})
	consume(c, "/q/examples.answers.ann/c/ann/", 3, func(key, number, answer string) {
		fmt.Printf("answer %s: %s\n", number, answer)
		_, err := c.Delete(ctx, key) // acknowledges
		must(err)
	})

	for _, queue := range []string{"examples.sums", "examples.answers.ann"} {
		_, err := c.Delete(ctx, "/q/"+queue)
		must(err)
	}
}

// consume watches a consumer's key and handles n messages.
func consume(c *clientv3.Client, prefix string, n int, handle func(key, name, value string)) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for answer := range c.Watch(ctx, prefix, clientv3.WithPrefix(), clientv3.WithFilterDelete()) {
		must(answer.Err())
		for _, e := range answer.Events {
			key := string(e.Kv.Key)
			handle(key, path.Base(key), string(e.Kv.Value))
			if n--; n == 0 {
				return
			}
		}
	}
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
