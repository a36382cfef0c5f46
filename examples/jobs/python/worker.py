"""Sends three mails by background jobs, with redis-py (pip install redis).

REDIS_URL is the address of the broker (default redis://127.0.0.1:6380).
"""
import json
import os

import redis

broker = redis.Redis.from_url(os.environ.get("REDIS_URL", "redis://127.0.0.1:6380"), protocol=3, decode_responses=True)
do = broker.execute_command

# A job with an id that is already queued is not added again.
for number, to in (1, "ann"), (2, "bob"), (2, "bob"), (3, "eve"):
    try:
        do("JOB.ENQUEUE", "examples.mails", json.dumps({"number": number, "to": to}), "ID", f"mail-{number}")
    except redis.ResponseError as e:
        if not str(e).startswith("ALREADYQUEUED"):
            raise
        print(f"mail {number} is queued already")

sent = 0
while sent < 3:  # a real worker never ends
    for job in do("JOB.TAKE", "examples.mails", "LOCK", 60_000, "BLOCK", 2_000) or []:  # returns as soon as a job is enqueued
        mail = json.loads(job["body"])
        lease = job["queue"], job["mid"], job["token"]  # unless reported within a minute, the job is queued again
        if mail["to"] == "bob" and job["attempt"] == 1:
            print(f"mail {mail['number']}: {mail['to']} does not answer")
            do("JOB.RETRY", *lease, "BACKOFF", 300)
        else:
            print(f"mail {mail['number']}: sent to {mail['to']}, attempt {job['attempt']}")
            do("JOB.DONE", *lease, "BACKOFF", 1_000)  # the id is remembered for a second, during which it is rejected
            sent += 1
