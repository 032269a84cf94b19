"""The live page: who may see it, what it tells, and that nobody who looks stops the stream."""

import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

import browser
import decisional as ds
from decisional.cli import live_page, main, parser
from decisional.streams.live_feed import LiveFeed
from interruption import listening

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
EVEN = ds.EpsilonMachine([("A", "0", "A", 0.5), ("A", "1", "B", 0.5), ("B", "1", "A", 1.0)])
BET = ds.utility.table([[0, 0], [-3, 1]], y=["stay out", "bet on 1"], z=["0", "1"])


def monitor(**how):
    return ds.Monitor(ds.DecisionalStates(BET).fit(EVEN), **how)


class Served:
    """A page of a monitor; `feed` is what it is fed with."""

    def __init__(self, follower=None, host="127.0.0.1", title="A stream"):
        self.monitor = follower or monitor()
        self.live = LiveFeed(self.monitor)
        self._page = live_page.LivePage(self.live, host, 0, title, (self.monitor.by, self.monitor.level))

    def __enter__(self):
        self._page.__enter__()
        self.address = self._page.address
        self.port = self._page._socket.getsockname()[1]
        return self

    def __exit__(self, *error):
        self._page.__exit__(*error)

    def feed(self, symbols):
        self.live.take(self.monitor.feed(symbols))

    def get(self, path="/", method="GET", body=None, **headers):
        """Status, headers and text; None as the Host header is that of the address."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, named)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, answer.headers, text


class Viewer:
    """One who reads a stream of events."""

    def __init__(self, port, path="/feed", **headers):
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        self._connection.request("GET", path, headers={name.replace("_", "-"): v for name, v in headers.items()})
        self._answer = self._connection.getresponse()
        self.status, self.type, self.mark = self._answer.status, self._answer.headers["content-type"], None

    def next(self):
        """What comes next."""
        while True:
            line = self._answer.readline().decode()
            assert line, "the stream has ended"
            if line.startswith("id: "):
                self.mark = line[4:].strip()
            if line.startswith("data: "):
                return json.loads(line[6:])

    def until(self, position):
        """All updates up to a position."""
        found = [self.next()]
        while found[-1]["position"] < position:
            found.append(self.next())
        return found

    def close(self):
        self._connection.sock.shutdown(socket.SHUT_RDWR) if self._connection.sock else None
        self._answer.close()
        self._connection.close()


def test_what_is_told():
    with Served() as page:
        page.feed("0110")
        viewer = Viewer(page.port)
        assert (viewer.status, viewer.type) == (200, "text/event-stream; charset=utf-8")
        first = viewer.next()
        assert first["whole"]
        assert first["position"] == 4
        assert first["decision"] == [0, "stay out", "0"]
        assert first["legend"] == [[0, "ω0", "stay out, worth 0"], [1, "ω1", "bet on 1, worth 1"]]
        assert first["belief"] == [["A", 1.0, 0], ["B", 0.0, 1]]
        assert [event[0] for event in first["events"]] == [0, 1, 2]
        assert first["events"][1] == [1, None, "event", 1, "bet on 1, worth 1", "was stay out, worth 0"]
        bins = [[0, 1, 0.0, 1.0, 0, 1.0], [1, 1, 1.0, 1.0, 1, 1.0], [2, 1, 0.0, 1.0, 0, 1.0], [3, 0, 0.0, 1.0, 0, 1.0]]
        assert first["lines"] == [{"width": 1, "bins": bins}]
        page.feed("1")
        second = viewer.until(5)[-1]
        assert not second["whole"]
        assert [event[0] for event in second["events"]] == [4]
        assert second["decision"] == [1, "bet on 1", "1"]
        # Nothing is new, and the viewer hears that all is well.
        assert viewer.next()["events"] in ([], second["events"])
        page.live.end()
        while not viewer.next()["ended"]:
            pass
        viewer.close()


def test_who_comes_back_goes_on(monkeypatch):
    monkeypatch.setattr(live_page, "PACE", 0.02)
    with Served() as page:
        page.feed("0110")
        first = Viewer(page.port)
        first.next()
        first.close()
        page.feed("101")
        for how in ({"Last_Event_ID": first.mark}, {"path": f"/feed?since={first.mark}"}):
            again = Viewer(page.port, **how)
            update = again.next()
            assert not update["whole"]
            assert [event[0] for event in update["events"] if event[0] >= 4] == [4, 5, 6]
            assert {number for number, *_ in update["lines"][0]["bins"]} >= {4, 5, 6}
            again.close()
        # A program that was started anew tells all.
        stranger = Viewer(page.port, Last_Event_ID="12345678-3")
        assert stranger.next()["whole"]
        stranger.close()


def test_all_viewers_see_all(monkeypatch):
    """Put together, what each of them got is what one sees who comes at the end."""
    monkeypatch.setattr(live_page, "PACE", 0.02)
    stream = "".join(EVEN.simulate(1500, rng=1).tolist())
    with Served() as page:
        viewers = [Viewer(page.port) for _ in range(5)]
        for begin in range(0, 1500, 50):
            page.feed(stream[begin : begin + 50])
            time.sleep(0.01)
        late = Viewer(page.port)
        last = late.next()
        late.close()
        assert last["position"] == 1500
        for viewer in viewers:
            bins, events = {}, {}
            for update in viewer.until(1500):
                events |= {event[0]: event for event in update["events"]}
                for line in update["lines"]:
                    bins.setdefault(line["width"], {}).update({entry[0]: entry for entry in line["bins"]})
            for line in last["lines"]:
                assert [bins[line["width"]][entry[0]] for entry in line["bins"]] == line["bins"]
            assert [events[event[0]] for event in last["events"]] == last["events"]
            viewer.close()


def test_a_viewer_that_reads_nothing(monkeypatch):
    """The stream goes on, others see it, nothing is queued, and the viewer is left in the end."""
    monkeypatch.setattr(live_page, "PACE", 0.002)
    monkeypatch.setattr(live_page, "PATIENCE", 0.5)
    stream = "".join(EVEN.simulate(4096, rng=2).tolist())
    with Served() as page, socket.create_connection(("127.0.0.1", page.port)) as idle:
        idle.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        idle.sendall(b"GET /feed HTTP/1.1\r\nHost: localhost\r\n\r\n")
        viewer, slowest = Viewer(page.port), 0.0
        with ThreadPoolExecutor(1) as reader:
            seen = reader.submit(viewer.until, 400 * 4096)
            for _ in range(400):
                before = time.monotonic()
                page.feed(stream)
                slowest = max(slowest, time.monotonic() - before)
                time.sleep(0.004)
            assert slowest < 1.0
            assert seen.result()[-1]["position"] == page.monitor.position == 400 * 4096
        viewer.close()
        end = time.monotonic() + 10
        while page._page._viewers and time.monotonic() < end:
            time.sleep(0.05)
        assert page._page._viewers == 0


def test_too_many_viewers(monkeypatch):
    monkeypatch.setattr(live_page, "VIEWERS", 1)
    with Served() as page:
        viewer = Viewer(page.port)
        viewer.next()
        assert page.get("/feed")[0] == 503
        viewer.close()


def test_page_and_files():
    with Served(title="<b>Even & odd</b>") as page:
        for path, kind in (("/", "text/html"), ("/live.css", "text/css"), ("/live.js", "text/javascript")):
            status, headers, text = page.get(path)
            assert status == 200
            assert headers["content-type"].startswith(kind)
            assert "default-src 'none'" in headers["content-security-policy"]
            assert "http://" not in text
            assert "https://" not in text
        text = page.get()[2]
        assert "&lt;b&gt;Even &amp; odd" in text
        assert all(colour in text for colour in ds.plot.figures.PALETTE)
        assert page.get("/nothing")[0] == 404
        assert page.get(method="POST", body="x")[0] == 405
        assert page.address == f"http://127.0.0.1:{page.port}/"


def test_the_host_header():
    with Served() as page:
        for host in ("localhost", f"localhost:{page.port}", "127.0.0.1:1", "[::1]:80"):
            assert page.get(Host=host)[0] == 200
        for host in ("evil.example", "127.0.0.1.evil.example", "10.0.0.1", "", "[", "localhost.evil.example"):
            for path in ("/", "/feed", "/live.js"):
                assert page.get(path, Host=host)[0] == 421


def test_the_token(monkeypatch):
    # Any address that is not this machine's own would do; this one does not leave it.
    monkeypatch.setattr(live_page, "is_local", lambda host: False)
    with Served() as page:
        page.feed("0110")
        token = page.address.partition("?token=")[2]
        assert len(token) >= 32
        for path in ("/", "/feed", "/live.js", "/?token=", "/?token=wrong", "/feed?token=wrong"):
            status, _, text = page.get(path)
            assert status == 403
            assert "<form" in text
            assert "legend" not in text
        assert page.get(Authorization="Bearer wrong")[0] == 403
        assert page.get(Authorization=f"Bearer {token}")[0] == 200
        assert page.get(method="POST", body="token=" + "x" * 10_000)[0] == 403
        for how in ({"path": f"/?token={token}"}, {"method": "POST", "body": f"token={token}"}):
            status, headers, _ = page.get(**how)
            assert status == 303
            cookie = headers["set-cookie"]
            assert "HttpOnly" in cookie
            assert "samesite=strict" in cookie.lower()
            assert token not in cookie
            kept = cookie.partition(";")[0]
            assert page.get(Cookie=kept)[0] == 200
            assert page.get(Cookie=kept + "x")[0] == 403
            viewer = Viewer(page.port, Cookie=kept)
            assert viewer.next()["position"] == 4
            viewer.close()
        # The Host header is looked at first; addresses and this machine's name are known.
        assert page.get(Host="evil.example", Authorization=f"Bearer {token}")[0] == 421
        assert page.get(Host=socket.gethostname(), Authorization=f"Bearer {token}")[0] == 200
        assert page.get(Host="192.0.2.7:80", Authorization=f"Bearer {token}")[0] == 200
        monkeypatch.setenv("DECISIONAL_TOKEN", "chosen by the user")
        with Served() as other:
            assert other.get(Authorization="Bearer chosen by the user")[0] == 200
        monkeypatch.setenv("DECISIONAL_TOKEN", "short")
        with pytest.raises(ValueError, match="has 5 characters"):
            Served()


def test_which_hosts_are_local():
    assert all(map(live_page.is_local, ("localhost", "127.0.0.1", "127.1.2.3", "::1")))
    assert not any(map(live_page.is_local, ("0.0.0.0", "::", "192.0.2.1", "example.org", "localhost.example.org")))


@pytest.mark.small
def test_addresses():
    known = {"80": ("127.0.0.1", 80), "0.0.0.0:1": ("0.0.0.0", 1), "[::1]:9": ("::1", 9), "me:0": ("me", 0)}
    for text, place in known.items():
        assert parser.SERVED(text) == place
    for text in ("", "x", ":80", "host:", "host:65536", "1:2:3", "[]:1", "-1", "host:²"):
        with pytest.raises(Exception, match="must be a port"):
            parser.SERVED(text)


def test_drift():
    stream = np.concatenate([EVEN.simulate(3000, rng=1), np.tile(["0", "1", "1", "1"], 500)])
    choice = ds.DecisionalStates(ds.utility.zero_one()).fit(EVEN)
    with Served(ds.Monitor(choice, adapt=ds.Adapt())) as page:
        page.feed(stream[:3500])
        viewer = Viewer(page.port)
        update = viewer.next()
        assert update["learning"]
        assert update["decision"] is None
        assert update["misfit"] > update["bound"] == pytest.approx(np.log2(1e9))
        page.feed(stream[3500:])
        update = viewer.until(5000)[-1]
        viewer.close()
    assert not update["learning"]
    assert [drift[2] for drift in update["drifts"]][:2] == ["change", "refit"]
    assert update["counts"][1] == len(update["drifts"])
    told = re.fullmatch(r"no longer fits since about ([\d,]+) \(.* bits\): learning anew", update["drifts"][0][4])
    assert abs(int(told[1].replace(",", "")) - 3000) < 50
    assert update["drifts"][1][4] == "learnt anew: 4 states"
    assert len(update["belief"]) == 4


def test_what_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monitor().save("monitor.json")
    Path("data.txt").write_text("0110")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert main(["watch", "monitor.json", "data.txt", "--serve", str(taken.getsockname()[1])]) == 2
    assert "of --serve cannot be used" in capsys.readouterr().err
    assert main(["watch", "monitor.json", "data.txt", "--stay"]) == 2
    assert "--stay has no meaning without --serve" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert main(["watch", "monitor.json", "data.txt", "--serve", "0"]) == 2
    assert "pip install 'decisional[live]'" in capsys.readouterr().err


def test_nothing_is_imported_without_the_page():
    code = "import sys, decisional.cli.program; print([m for m in ('starlette', 'uvicorn') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


class Watching:
    """`decisional watch --serve` as a program, fed through a pipe."""

    def __init__(self, folder, *options, port=0):
        command = [sys.executable, "-m", "decisional", "watch", "monitor.json", "--serve", str(port), *options]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.process = subprocess.Popen(command, cwd=folder, preexec_fn=listening, **pipes)
        line = self.process.stderr.readline().decode()
        self.address = line.split()[-1]
        assert self.address.startswith("http://127.0.0.1:"), line
        self.port = int(self.address.rpartition(":")[2].strip("/"))

    def feed(self, text):
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            pipe.close()


@pytest.fixture
def folder(tmp_path):
    monitor().save(tmp_path / "monitor.json")
    return tmp_path


def test_killed_and_started_again(folder):
    kept = "--state", "state.json", "--out", "events.jsonl"
    with Watching(folder, *kept) as first:
        first.feed("0110")
        viewer = Viewer(first.port)
        viewer.until(4)
        first.process.kill()
        first.process.wait()
        viewer.close()
    with Watching(folder, *kept, port=first.port) as second:
        viewer = Viewer(second.port, Last_Event_ID=viewer.mark)
        update = viewer.next()
        assert update["whole"]
        assert update["position"] == 4
        # What was told before is shown again.
        assert [event[0] for event in update["events"]] == [0, 1, 2]
        second.feed("101")
        assert [event[0] for event in viewer.until(7)[-1]["events"] if event[0] > 3] == [4, 5, 6]
        viewer.close()
        second.process.stdin.close()
        assert second.process.wait(20) == 0
    told = [json.loads(line)["position"] for line in (folder / "events.jsonl").read_text().splitlines()]
    assert told == monitor().feed("0110101").position.tolist()


def test_the_end_and_ctrl_c(folder):
    with Watching(folder, "--stay") as watching:
        watching.feed("0110")
        watching.process.stdin.close()
        viewer = Viewer(watching.port)
        while not viewer.next()["ended"]:
            pass
        time.sleep(1.0)
        assert watching.process.poll() is None
        watching.process.send_signal(signal.SIGINT)
        assert watching.process.wait(20) == 130
        assert watching.process.stderr.read() == b""
        viewer.close()


needs_browser = pytest.mark.skipif(browser.PROGRAM is None, reason="Chromium is not installed")
READY = "typeof now === 'object' && now !== null && !drawn"


def text(page, name):
    return page.run(f"document.getElementById('{name}').innerText")


@needs_browser
def test_events_appear_on_the_page_of_each_viewer(folder):
    kept = "--state", "state.json", "--out", "events.jsonl"
    with ExitStack() as stack:
        first = stack.enter_context(Watching(folder, *kept))
        chromium = stack.enter_context(browser.Browser())
        first.feed("0110")
        pages = [chromium.open(first.address), chromium.open(first.address, 400, 800, dark=True)]
        for page in pages:
            page.wait(f"{READY} && now.position === 4")
            assert "stay out" in text(page, "decision")
        first.feed("1")
        for page in pages:
            page.wait(f"{READY} && now.position === 5")
            assert "bet on 1" in text(page, "decision")
            assert text(page, "events").startswith("4\nbet on 1, worth 1")
            assert page.run("document.documentElement.scrollWidth <= innerWidth")
            # Nothing is asked of anyone else.
            assert all(address.startswith((first.address, "data:")) for address in page.addresses())
            assert page.errors() == []
        page = pages[0]
        page.run("document.getElementById('picture').dispatchEvent(new PointerEvent('pointermove', {clientX: 5e3}))")
        area = "document.getElementById('picture').getBoundingClientRect()"
        place = f"{{clientX: {area}.left + 44 + 1.5 * view.step}}"
        page.run(f"document.getElementById('picture').dispatchEvent(new PointerEvent('pointermove', {place}))")
        assert text(page, "tip").splitlines() == ["position 1", "worth 1", "an event", "bet on 1, worth 1"]
        assert page.errors() == []
        # Killed and started again, the pages go on by themselves.
        first.process.kill()
        first.process.wait()
        second = stack.enter_context(Watching(folder, *kept, port=first.port))
        second.feed("1")
        for page in pages:
            page.wait(f"{READY} && now.position === 6 && events.length > 4")
            assert "stay out" in text(page, "decision")
            assert text(page, "status") == "Following the stream."


@needs_browser
def test_a_page_of_another_machine_asks_for_the_token(monkeypatch):
    monkeypatch.setattr(live_page, "is_local", lambda host: False)
    with Served() as served, browser.Browser() as chromium:
        served.feed("0110")
        bare, _, token = served.address.partition("?token=")
        page = chromium.open(bare)
        page.wait("document.querySelector('input[name=token]') !== null")
        page.run(f"document.querySelector('input').value = '{token}'")
        page.run("document.querySelector('button').click()")
        page.wait("document.getElementById('position')?.textContent === '4'")
        assert page.run("location.href") == bare
        assert token not in page.run("document.cookie")


@needs_browser
def test_a_fast_stream_in_the_browser():
    stream = "".join(EVEN.simulate(100_000, rng=3).tolist())
    with Served(monitor(adapt=ds.Adapt())) as served, browser.Browser() as chromium:
        page = chromium.open(served.address)
        for _ in range(10):
            served.feed(stream)
        page.wait(f"{READY} && now.position === 1000000")
        # All of the stream is on the line.
        seen = page.run("[...lines.get(Math.max(...lines.keys())).values()].reduce((sum, bin) => sum + bin[3], 0)")
        assert seen == 1_000_000
        assert page.run("Math.max(...[...lines.values()].map((line) => line.size))") <= 256
        assert page.errors() == []
