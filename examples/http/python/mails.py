"""Sends three mails with Python's built-in urllib.

BROKER_URL is the address of the broker, with a user (default http://guest:guest@127.0.0.1:15672).
"""
import base64
import json
import os
import urllib.parse
import urllib.request

broker = urllib.parse.urlsplit(os.environ.get("BROKER_URL", "http://guest:guest@127.0.0.1:15672"))
login = base64.b64encode(f"{broker.username}:{broker.password}".encode()).decode()
queue = f"http://{broker.hostname}:{broker.port}/api/queues/%2F/examples.mails"


def ask(method, url, body=None):
    headers = {"Authorization": "Basic " + login, "Content-Type": "application/json"}
    request = urllib.request.Request(url, json.dumps(body or {}).encode(), headers, method=method)
    with urllib.request.urlopen(request, timeout=60) as answer:  # raises an exception for an error of the API
        return json.loads(answer.read() or "null")


ask("PUT", queue, {"durable": True})
for number, to in (1, "ann"), (2, "bob"), (3, "eve"):
    ask("POST", queue + "/messages", {"payload": json.dumps({"number": number, "to": to}), "properties": {"content_type": "application/json"}})

sent = 0
while sent < 3:  # a real worker never ends
    done, later = [], []
    # Unless acked within a minute, another worker gets them.
    for message in ask("POST", queue + "/messages/take?count=10&wait=30s&lease=1m")["messages"]:
        mail, attempt = json.loads(message["payload"]), message["returns"] + 1
        if mail["to"] == "bob" and attempt == 1:
            print(f"mail {mail['number']}: {mail['to']} does not answer")
            later.append(message["token"])
        else:
            print(f"mail {mail['number']}: sent to {mail['to']}, attempt {attempt}")
            done.append(message["token"])
    if done:
        sent += ask("POST", queue + "/messages/ack", {"tokens": done})["acked"]
    if later:
        ask("POST", queue + "/messages/nack", {"tokens": later, "delay": "300ms"})
