"""acks_late: the task of a killed worker goes to another one."""

import os

import support
from support import DEADLINE_S, FOLDER, Worker, equal, wait_until
from tasks import late


def script():
    path = os.path.join(FOLDER, "late")
    first = Worker("tasks", "first", "-c", "1", "--without-mingle", "--without-gossip")
    result = late.delay(path)
    wait_until(lambda: os.path.exists(path), "the first worker has the task")
    first.kill()
    second = Worker("tasks", "second", "-c", "1")
    equal(result.get(DEADLINE_S), "second", "result of the task whose worker was killed")
    second.stop()


if __name__ == "__main__":
    support.main(script)
