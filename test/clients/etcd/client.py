"""Tests python-etcd3 (gRPC) and etcd3gw (JSON) with the broker: keys, transactions, leases, locks, watches, queues.

ETCD_ADDR is the address of the broker or, with QUEUES=no, which skips the queues, of a real etcd.
"""

import os
import queue
import sys

os.environ.setdefault("PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION", "python")  # python-etcd3's generated code does not support the fast one

import etcd3
import etcd3gw

HOST, PORT = os.environ["ETCD_ADDR"].split(":")
PATIENCE = 20  # seconds


def equal(got, want):
    if got != want:
        raise AssertionError(f"got {got!r}, want {want!r}")


def open_client():
    return etcd3.client(host=HOST, port=int(PORT), timeout=PATIENCE)


def keys(c):
    c.put("py/a", "1")
    value, meta = c.get("py/a")
    equal((value, meta.key, meta.version), (b"1", b"py/a", 1))
    c.put("py/a", "2")
    equal(c.get("py/a")[1].version, 2)
    c.put("py/b", "3")
    equal([v for v, _ in c.get_prefix("py/", sort_order="descend")], [b"3", b"2"])
    equal([m.key for _, m in c.get_range("py/a", "py/b")], [b"py/a"])
    equal(c.get("py/none"), (None, None))
    equal(c.replace("py/a", "2", "4"), True)
    equal(c.replace("py/a", "2", "5"), False)
    equal(c.put_if_not_exists("py/a", "6"), False)
    equal(c.delete("py/b"), True)
    equal(c.delete("py/b"), False)
    revision = c.get("py/a")[1].mod_revision
    equal(revision > 1, True)


def transactions(c):
    done, answers = c.transaction(
        compare=[c.transactions.value("py/a") == "4", c.transactions.version("py/t") == 0],
        success=[c.transactions.put("py/t", "yes"), c.transactions.get("py/a")],
        failure=[c.transactions.delete("py/a")],
    )
    equal(done, True)
    equal(answers[1][0][0], b"4")
    done, _ = c.transaction(compare=[c.transactions.version("py/t") == 0], success=[c.transactions.put("py/t", "no")], failure=[])
    equal(done, False)
    equal(c.get("py/t")[0], b"yes")


def leases(c):
    lease = c.lease(100)
    c.put("py/l", "1", lease=lease)
    equal(lease.granted_ttl, 100)
    equal(lease.keys, [b"py/l"])
    lease.refresh()
    lease.revoke()
    equal(c.get("py/l"), (None, None))


def locks(c, other):
    with c.lock("py", ttl=100) as lock:
        equal(lock.is_acquired(), True)
        equal(other.lock("py", ttl=100).acquire(timeout=0.2), False)
    again = other.lock("py", ttl=100)
    equal(again.acquire(timeout=PATIENCE), True)
    equal(again.release(), True)


def watches(c, other):
    told = queue.Queue()
    watch = c.add_watch_prefix_callback("py/w/", lambda answer: [told.put(e) for e in getattr(answer, "events", [])])
    other.put("py/w/1", "x")
    event = told.get(timeout=PATIENCE)
    equal((type(event).__name__, event.key, event.value), ("PutEvent", b"py/w/1", b"x"))
    other.delete("py/w/1")
    equal(type(told.get(timeout=PATIENCE)).__name__, "DeleteEvent")
    c.cancel_watch(watch)
    events, cancel = c.watch("py/h", start_revision=other.get("py/t")[1].mod_revision)
    other.put("py/h", "1")
    equal(next(events).value, b"1")
    cancel()


def cluster(c):
    equal(len(list(c.members)), 1)
    status = c.status()
    equal(status.leader.id, list(c.members)[0].id)
    equal(list(c.list_alarms()), [])


def queues(c, other):
    """Two messages to a consumer, acknowledged by deletes."""
    c.delete("/q/py")
    told, gone = queue.Queue(), queue.Queue()

    def take(answer):
        for e in getattr(answer, "events", []):
            (told if isinstance(e, etcd3.events.PutEvent) else gone).put(e)

    c.add_watch_prefix_callback("/q/py/c/me/", take)
    for n in ("1", "2"):
        other.put("/q/py/p/" + n, "message " + n)
    for n in ("1", "2"):
        event = told.get(timeout=PATIENCE)
        equal(event.value, f"message {n}".encode())
        equal(event.key.decode().split("/")[-1], n)
        equal(c.get(event.key)[0], event.value)
        equal(other.delete(event.key), True)
        equal(gone.get(timeout=PATIENCE).key, event.key)
    equal(len(list(other.get_range("/q/py/0", "/q/py/:"))), 0)


def gateway():
    c = etcd3gw.client(host=HOST, port=int(PORT), api_path="/v3/", timeout=PATIENCE)
    equal(c.put("py/json", "1"), True)
    equal(c.get("py/json"), [b"1"])
    equal([v for v, _ in c.get_prefix("py/json")], [b"1"])
    equal(c.replace("py/json", "1", "2"), True)
    equal(c.delete("py/json"), True)
    lease = c.lease(ttl=100)
    equal(c.put("py/json", "1", lease=lease), True)
    equal(lease.ttl() > 90, True)
    equal(lease.revoke(), True)
    equal(c.get("py/json"), [])
    with c.lock("py-json", ttl=100) as lock:
        equal(lock.is_acquired(), True)


def main():
    c, other = open_client(), open_client()
    c.delete_prefix("py/")
    keys(c)
    transactions(c)
    leases(c)
    locks(c, other)
    watches(c, other)
    cluster(c)
    gateway()
    if os.environ.get("QUEUES") != "no":
        queues(c, other)
    c.close()
    other.close()


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)  # python-etcd3's watcher threads do not always end
