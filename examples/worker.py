"""A worker in Python, with nothing but its standard library: lease jobs, keep them by heartbeats, report their results."""

import json
import os
import signal
import threading
import time
import urllib.error
import urllib.request

BASE_URL = os.environ.get("PLINTH_URL", "http://127.0.0.1:4000") + "/jobs/v1"
HEADERS = {
    "Authorization": "Bearer " + os.environ.get("PLINTH_ROOT_TOKEN", ""),
    "Content-Type": "application/json",
}
LEASE_SECONDS = 30
stopping = threading.Event()


class PermanentFailure(Exception):
    """No further attempt would help."""


def call(path, body, timeout=30):
    """Sends a POST and returns the JSON of the response."""
    data = json.dumps(body).encode()
    request = urllib.request.Request(BASE_URL + path, data, HEADERS, method="POST")
    with urllib.request.urlopen(request, timeout=timeout) as response:
        return json.load(response)


def report(path, body):
    """Reports until the server answers. A 404 or 409 means that another worker has the job by now."""
    while True:
        try:
            return call(path, body)
        except urllib.error.HTTPError as error:
            if error.code < 500 and error.code != 429:
                print(f"{path}: {error.code}", flush=True)
                return None
        except OSError:
            pass
        time.sleep(1)


def keep(lease_id, done):
    """Renews the lease three times in its duration until the work is done or the lease has ended."""
    while not done.wait(LEASE_SECONDS / 3):
        try:
            call(f"/leases/{lease_id}/heartbeat", {"duration": f"{LEASE_SECONDS}s"}, timeout=5)
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return
        except OSError:
            pass


def send_email(job):
    """Stands for what really sends."""
    email = job["payload"]
    if "@" not in email["to"]:
        raise PermanentFailure(f"no address: {email['to']}")
    print(f"{job['id']}: {email['template']} to {email['to']}, attempt {job['attempt']}", flush=True)
    return {"message_id": f"{email['template']}-{time.time_ns()}"}


HANDLERS = {"email.send": send_email}


def execute(job, lease_id):
    """Executes one job and reports what became of it."""
    try:
        handler = HANDLERS.get(job["name"])
        if handler is None:
            raise LookupError(f"no handler for job {job['name']}")
        output = handler(job)
    except Exception as error:
        text = str(error) or type(error).__name__
        print(f"{job['id']}: {text}", flush=True)
        failure = {"error": text[:2000], "retryable": not isinstance(error, PermanentFailure)}
        report(f"/jobs/{job['id']}/fail", {"lease_id": lease_id, **failure})
    else:
        report(f"/jobs/{job['id']}/complete", {"lease_id": lease_id, "output": output})


def work():
    """Takes one job at a time until the worker has to stop."""
    wanted = {"queues": ["emails"], "max_jobs": 1, "duration": f"{LEASE_SECONDS}s", "worker": f"python:{os.getpid()}"}
    print(f"working on {BASE_URL}", flush=True)
    while not stopping.is_set():
        try:
            # A short wait, so that the worker stops soon.
            lease = call("/leases", {**wanted, "wait": "2s"})
        except OSError as error:
            print(f"worker: {error}", flush=True)
            stopping.wait(1)
            continue
        for job in lease["jobs"]:
            done = threading.Event()
            heartbeats = threading.Thread(target=keep, args=(lease["id"], done))
            heartbeats.start()
            execute(job, lease["id"])
            done.set()
            heartbeats.join()
    print("stopped", flush=True)


for number in (signal.SIGTERM, signal.SIGINT):
    signal.signal(number, lambda *_: stopping.set())
work()
