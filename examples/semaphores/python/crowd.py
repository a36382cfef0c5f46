"""Keeps a crowd platform full with the 1,000 most urgent of 5,000 tasks, with pika (pip install pika).

Requests and events are AMQP messages.

AMQP_URL is the address of the broker (default amqp://guest:guest@127.0.0.1:5672/%2F).
"""
import json
import os
import uuid

import pika

TASKS, ACTIVE = 5000, 1000
KEY = "examples.crowd"


class Feeder:
    """Publishes the tasks that the semaphore admits to the platform, and withdraws tasks that must give way."""

    def __init__(self, url):
        self.connection = pika.BlockingConnection(pika.URLParameters(url))
        self.channel = self.connection.channel()
        self.answers, self.events = {}, []
        self.channel.basic_consume("amq.rabbitmq.reply-to", self.answered, auto_ack=True)
        self.priorities, self.on_platform = {}, set()
        self.done = self.most = 0
        self.asked = self.taken_back = self.finished_first = 0

    def answered(self, channel, method, properties, body):
        self.answers[properties.correlation_id] = json.loads(body)

    def ask(self, op, **request):
        """Sends a request and waits for the answer, which comes when the change is on disk."""
        properties = pika.BasicProperties(reply_to="amq.rabbitmq.reply-to", correlation_id=str(uuid.uuid4()))
        self.channel.basic_publish("", "amq.semaphore", json.dumps({"op": op, "semaphore": KEY, **request}), properties)
        while properties.correlation_id not in self.answers:
            self.connection.process_data_events(time_limit=None)
        answer = self.answers.pop(properties.correlation_id)
        if "error" in answer:
            raise RuntimeError(answer["reason"])
        return answer

    def watch(self):
        """Binds a queue to the events of the semaphore. A real program uses a durable queue, and acknowledges."""
        queue = self.channel.queue_declare("", exclusive=True).method.queue
        self.channel.queue_bind(queue, "semaphore.events", KEY + ".*")
        self.channel.basic_consume(queue, lambda _c, _m, _p, body: self.events.append(json.loads(body)), auto_ack=True)

    def enqueue(self, numbers, more=0):
        """Enqueues tasks, or changes the priorities of existing ones. A task's priority is its number plus more."""
        entries = [{"task": n, "priority": n + more} for n in numbers]
        self.priorities.update((e["task"], e["priority"]) for e in entries)
        self.ask("enqueue", tasks=entries)

    def feed_until(self, enough):
        """Handles events until enough returns true. Events are only hints: what counts is the status of the tasks."""
        while not enough():
            while not self.events:
                self.connection.process_data_events(time_limit=None)
            events, self.events = self.events, []
            self.asked += sum(e["event"] == "TryRelease" for e in events)
            self.look(sorted({e["task"] for e in events if e["event"] in ("Acquired", "TryRelease")}))

    def look(self, names):
        """Adds and removes tasks as their statuses require."""
        found = self.ask("status", tasks=names)["tasks"]
        self.on_platform.update(int(t["task"]) for t in found if t["status"] == "ACQUIRED")
        self.most = max(self.most, len(self.on_platform))
        self.give_way([int(t["task"]) for t in found if t["status"] == "TRY_RELEASE"])

    def give_way(self, tasks):
        """Withdraws tasks that were asked to release. One in four has been begun and is finished first; the others
        are enqueued again."""
        self.on_platform.difference_update(tasks)
        begun = [t for t in tasks if t % 4 == 0]
        again = [t for t in tasks if t % 4 != 0]
        self.finished_first += len(begun)
        self.done += len(begun)
        self.taken_back += len(again)
        self.ask("release", tasks=tasks)
        self.ask("enqueue", tasks=[{"task": t, "priority": self.priorities[t]} for t in again])

    def finish(self, tasks):
        """Finishes these tasks, as people on the platform do."""
        self.on_platform.difference_update(tasks)
        self.done += len(tasks)
        self.ask("release", tasks=list(tasks))

    def span(self):
        on_platform = [self.priorities[t] for t in self.on_platform]
        return f"{len(on_platform)} on the platform: priorities {min(on_platform)} to {max(on_platform)}"

    def urgent(self):
        return sum(self.priorities[t] > TASKS for t in self.on_platform)

    def gave_way(self):
        said = f"{self.asked} asked to give way, {self.taken_back} taken back, {self.finished_first} finished first"
        self.asked = self.taken_back = self.finished_first = 0
        return said


f = Feeder(os.environ.get("AMQP_URL", "amqp://guest:guest@127.0.0.1:5672/%2F"))
f.ask("create", active=ACTIVE, try_release=900)
f.watch()

f.enqueue(range(1, TASKS + 1))  # task 17 has the priority 17
f.feed_until(lambda: len(f.on_platform) == ACTIVE)
print(f"{TASKS} tasks in line, {f.span()}")

f.finish(range(4101, 4501))  # people finish tasks of their choice
f.feed_until(lambda: len(f.on_platform) == ACTIVE)
print(f"400 done, {f.span()}")

f.enqueue(range(1, 201), 10_000)
f.feed_until(lambda: f.urgent() == 200 and len(f.on_platform) == ACTIVE)
print(f"200 became urgent: {f.gave_way()}")
print(f"{f.urgent()} urgent on the platform of {len(f.on_platform)}")

f.enqueue(range(201, 211), 10_000)
f.enqueue(range(201, 211))  # a mistake: the tasks that were asked may keep running
f.feed_until(lambda: f.asked == 10)
print(f"10 became urgent for a moment: {f.gave_way()}")

while f.done < TASKS:
    f.finish(sorted(f.on_platform)[:500])
    f.feed_until(lambda: len(f.on_platform) == min(ACTIVE, TASKS - f.done))
print(f"all {f.done} done, never more than {f.most} on the platform")
f.ask("delete")
f.connection.close()
