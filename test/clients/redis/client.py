"""Tests redis-py in both protocol versions with the broker at REDIS_URL: lists, transactions, channels, jobs, streams."""

import os
import threading
import time

import redis

URL = os.environ["REDIS_URL"]


def equal(got, want):
    assert got == want, f"got {got!r}, want {want!r}"


def lists(r):
    r.delete("py.list", "py.done")
    equal(r.lpush("py.list", "a", "b", "c"), 3)
    equal(r.llen("py.list"), 3)
    equal(r.lrange("py.list", 0, -1), ["c", "b", "a"])
    equal(r.rpop("py.list"), "a")
    equal(r.lmove("py.list", "py.done", "RIGHT", "LEFT"), "b")
    equal(r.brpop(["py.none", "py.list"], timeout=5), ["py.list", "c"] if r.get_connection_kwargs().get("protocol") == 3 else ("py.list", "c"))
    equal(r.exists("py.list"), 0)
    equal(r.type("py.done"), "list")
    equal(sorted(r.keys("py.d*")), ["py.done"])
    equal(list(r.scan_iter("py.d*")), ["py.done"])
    equal(r.rpop("py.none"), None)


def waiting(r):
    got = []
    taker = threading.Thread(target=lambda: got.append(r.blpop("py.wait", timeout=20)))
    taker.start()
    while r.info("clients")["blocked_clients"] == 0:
        time.sleep(0.01)
    r.rpush("py.wait", "x")
    taker.join()
    equal(list(got[0]), ["py.wait", "x"])
    equal(r.blpop("py.wait", timeout=0.05), None)


def transactions(r):
    r.delete("py.a", "py.b")
    with r.pipeline(transaction=True) as p:
        equal(p.lpush("py.a", "1").lpush("py.b", "2").rpop("py.a").execute(), [1, 1, "1"])
    with r.pipeline() as p:
        p.watch("py.b")
        r.lpush("py.b", "3")
        p.multi()
        p.lpush("py.b", "4")
        try:
            p.execute()
            raise AssertionError("a transaction went through though its queue had changed")
        except redis.WatchError:
            pass
    with r.pipeline(transaction=False) as p:
        for i in range(1000):
            p.lpush("py.a", i)
        for i in range(1000):
            p.rpop("py.a")
        equal(p.execute()[1000:], [str(i) for i in range(1000)])


def channels(r):
    with r.pubsub() as listener:
        listener.subscribe("py.news")
        listener.psubscribe("py.*")
        kinds = [listener.get_message(timeout=20)["type"] for _ in range(2)]
        equal(kinds, ["subscribe", "psubscribe"])
        equal(r.publish("py.news", "hello"), 2)
        got = [listener.get_message(timeout=20) for _ in range(2)]
        equal([(m["type"], m["channel"], m["data"]) for m in got], [("message", "py.news", "hello"), ("pmessage", "py.news", "hello")])
        equal(r.pubsub_numsub("py.news"), [("py.news", 1)])


def jobs(r):
    r.execute_command("QUEUE.CLEAR", "py.jobs")
    equal(r.execute_command("JOB.ENQUEUE", "py.jobs", "work", "ID", "m1"), ["added", "m1"])
    try:
        r.execute_command("JOB.ENQUEUE", "py.jobs", "work", "ID", "m1")
        raise AssertionError("the same id was enqueued twice")
    except redis.ResponseError as e:
        assert str(e).startswith("ALREADYQUEUED"), e
    (job,) = r.execute_command("JOB.TAKE", "py.jobs")
    if not isinstance(job, dict):
        job = dict(zip(job[::2], job[1::2]))
    equal((job["mid"], job["body"], job["attempt"]), ("m1", "work", 1))
    equal(r.execute_command("JOB.STATUS", "py.jobs", "m1"), "locked")
    equal(r.execute_command("JOB.DONE", "py.jobs", "m1", job["token"]) in ("OK", True), True)


def streams(r):
    r.delete("py.stream")
    first = r.xadd("py.stream", {"n": "1"})
    equal(r.xlen("py.stream"), 1)
    equal(r.xrange("py.stream"), [(first, {"n": "1"})])
    equal(r.xgroup_create("py.stream", "g", "0"), True)
    got = r.xreadgroup("g", "me", {"py.stream": ">"})
    assert first in str(got), got
    equal(r.xpending("py.stream", "g")["pending"], 1)
    equal(r.xack("py.stream", "g", first), 1)
    equal(r.xpending("py.stream", "g")["pending"], 0)
    equal(r.delete("py.stream"), 1)


for protocol in (2, 3):
    r = redis.Redis.from_url(URL, protocol=protocol, decode_responses=True, client_name="py")
    equal(r.ping(), True)
    equal(r.client_getname(), "py")
    for part in (lists, waiting, transactions, channels, jobs, streams):
        part(r)
    r.close()
