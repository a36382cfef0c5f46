package value

// Row types of the semaphore tables.
var (
	Semaphore = composite(OIDSemaphore, OIDSemaphoreArr, RelSemaphore, "markup", "semaphore", []Field{
		{Name: "id", Type: Int8}, {Name: "key", Type: Text}, {Name: "active", Type: Int4}, {Name: "try_release", Type: Int4}, {Name: "ascending", Type: Bool}, {Name: "lease", Type: IntervalType},
		{Name: "waiting", Type: Int8}, {Name: "acquired", Type: Int8}, {Name: "try_release_asked", Type: Int8}, {Name: "created", Type: TimestampTZType},
	})
	SemaphoreTask = composite(OIDSemaphoreTask, OIDSemaphoreTaskArr, RelSemaphoreTask, "markup", "semaphore_task", []Field{
		{Name: "semaphore_id", Type: Int8}, {Name: "task_id", Type: Int8}, {Name: "priority", Type: Float8}, {Name: "status", Type: SemaphoreStatus}, {Name: "enqueued", Type: TimestampTZType},
		{Name: "task", Type: Text}, {Name: "position", Type: Int8}, {Name: "lease", Type: IntervalType}, {Name: "expires", Type: TimestampTZType},
	})
)
