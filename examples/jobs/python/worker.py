"""Sends three mails by background jobs, with redis-py (pip install redis).

REDIS_URL says where the broker is; without it redis://127.0.0.1:6380.
"""
import json
import os

import redis

broker = redis.Redis.from_url(os.environ.get("REDIS_URL", "redis://127.0.0.1:6380"), protocol=3, decode_responses=True)
do = broker.execute_command

# An id is enqueued once, however often somebody asks for it.
for number, to in (1, "ann"), (2, "bob"), (2, "bob"), (3, "eve"):
    try:
        do("JOB.ENQUEUE", "examples.mails", json.dumps({"number": number, "to": to}), "ID", f"mail-{number}")
    except redis.ResponseError as e:
        if not str(e).startswith("ALREADYQUEUED"):
            raise
        print(f"mail {number} is queued already")

sent = 0
while sent < 3:  # a real worker has no end
    for job in do("JOB.TAKE", "examples.mails", "LOCK", 60_000, "BLOCK", 2_000) or []:  # woken at once by an enqueue
        mail = json.loads(job["body"])
        lease = job["queue"], job["mid"], job["token"]  # without a report in a minute the job is queued again
        if mail["to"] == "bob" and job["attempt"] == 1:
            print(f"mail {mail['number']}: {mail['to']} does not answer")
            do("JOB.RETRY", *lease, "BACKOFF", 300)
        else:
            print(f"mail {mail['number']}: sent to {mail['to']}, attempt {job['attempt']}")
            do("JOB.DONE", *lease, "BACKOFF", 1_000)  # the id is remembered for a second: who asks again in that time is refused
            sent += 1
