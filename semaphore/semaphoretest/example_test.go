package semaphoretest_test

import (
	"context"
	"fmt"

	"fiveways.dev/fiveways/semaphore"
	"fiveways.dev/fiveways/semaphore/semaphoretest"
)

// A program can be tested without a broker.
func ExampleMemory() {
	ctx := context.Background()
	semaphores := semaphore.New(semaphoretest.NewMemory())
	defer semaphores.Close()
	crowd, err := semaphores.GetOrCreate(ctx, "crowd", semaphore.Settings{Active: new(1)})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, task := range []string{"fox", "owl"} {
		status, err := crowd.Enqueue(ctx, task, 1)
		fmt.Println(task, status, err)
	}
	// Output:
	// fox ACQUIRED <nil>
	// owl WAIT <nil>
}
