package value

// The rows of the tables of semaphores.
var (
	Semaphore = composite(OIDSemaphore, OIDSemaphoreArr, RelSemaphore, "markup", "semaphore", []Field{
		{"id", Int8}, {"key", Text}, {"active", Int4}, {"try_release", Int4}, {"ascending", Bool}, {"lease", IntervalType},
		{"waiting", Int8}, {"acquired", Int8}, {"try_release_asked", Int8}, {"created", TimestampTZType},
	})
	SemaphoreTask = composite(OIDSemaphoreTask, OIDSemaphoreTaskArr, RelSemaphoreTask, "markup", "semaphore_task", []Field{
		{"semaphore_id", Int8}, {"task_id", Int8}, {"priority", Float8}, {"status", SemaphoreStatus}, {"enqueued", TimestampTZType},
		{"task", Text}, {"position", Int8}, {"lease", IntervalType}, {"expires", TimestampTZType},
	})
)
