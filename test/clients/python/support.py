"""Shared by these scripts: the broker's address, checks that fail loudly, and reading without timeouts.

A script proves that something did NOT arrive without a timer: it publishes on a confirming channel, so that every
queue has the message before basic_publish returns, and then empties the queue with basic_get until get-empty.
"""

import os
import sys
import time
import traceback

import pika

DEADLINE_S = 30  # timeout for expected events; only a failing run reaches it


def connect(**overrides):
    """Opens a BlockingConnection to AMQP_URL; overrides are attributes of pika.URLParameters."""
    params = pika.URLParameters(os.environ["AMQP_URL"])
    params.blocked_connection_timeout = DEADLINE_S
    for name, value in overrides.items():
        setattr(params, name, value)
    return pika.BlockingConnection(params)


def equal(got, want, what):
    """Raises AssertionError unless got == want."""
    if got != want:
        raise AssertionError(f"{what}: got {got!r}, want {want!r}")


def raises(error, code, call, *args, **kwargs):
    """Runs call and returns the error that it must raise, with this AMQP reply code."""
    try:
        call(*args, **kwargs)
    except error as e:
        equal(e.reply_code, code, f"reply code of {e!r}")
        return e
    raise AssertionError(f"no {error.__name__} raised")


def fresh_queue(channel, name, **kwargs):
    """Declares an empty queue, whatever an earlier run left behind; returns its name."""
    channel.queue_delete(name)
    return channel.queue_declare(name, **kwargs).method.queue


def fresh_exchange(channel, name, **kwargs):
    """Declares an exchange without bindings, whatever an earlier run left behind."""
    channel.exchange_delete(name)
    channel.exchange_declare(name, **kwargs)
    return name


def confirming(connection):
    """Opens a channel on which basic_publish returns only after the broker's confirm."""
    channel = connection.channel()
    channel.confirm_delivery()
    return channel


def drain(channel, queue):
    """Empties the queue with basic_get and returns [(method, properties, body)]."""
    messages = []
    while True:
        method, properties, body = channel.basic_get(queue, auto_ack=True)
        if method is None:
            return messages
        messages.append((method, properties, body))


def bodies(messages):
    """Returns the bodies of messages as text."""
    return [body.decode() for _, _, body in messages]


def wait_until(connection, condition, what):
    """Serves the connection until condition() is true."""
    end = time.monotonic() + DEADLINE_S
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {DEADLINE_S} s")
        connection.process_data_events(time_limit=0.02)


class Inbox:
    """A consumer callback that collects its deliveries in order."""

    def __init__(self):
        self.messages = []

    def __call__(self, channel, method, properties, body):
        self.messages.append((method, properties, body))

    def wait(self, connection, count):
        """Serves the connection until count messages have arrived, and returns all of them."""
        wait_until(connection, lambda: len(self.messages) >= count, f"{count} messages")
        return self.messages


SNIPPETS = []


def snippet(function):
    """Registers function(connection) to be run by main on its own connection."""
    SNIPPETS.append(function)
    return function


def main():
    """Runs every registered snippet, prints each result, and exits with 1 if any failed."""
    failed = 0
    for function in SNIPPETS:
        connection = connect()
        try:
            function(connection)
            print("ok  ", function.__name__)
        except Exception:
            failed += 1
            print("FAIL", function.__name__)
            traceback.print_exc(file=sys.stdout)
        finally:
            if connection.is_open:
                connection.close()
    print(f"{len(SNIPPETS) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
