"""A hub for tests: HuggingFace's URLs on one port, the host it redirects large files to on another.

usage: hub_server.py <model folder> <state folder>
The state folder gets "ports" (hub, then storage) when both listen, and "log", a line of JSON for each request.
Every repository has the files of the model folder at commit c0ffee...; its name says what goes wrong:
  test/good                 nothing
  test/flaky                the list fails twice with 500; storage ends each connection after a third of the file
  test/slow                 storage takes seconds
  test/changed              storage has a new ETag at every request, so that nothing can be continued
  test/corrupt              storage sends other bytes
  test/corrupt-small        the hub sends other bytes for the small files
  test/long                 storage sends more than it said
  test/private              401 without the token "secret"
  test/escape, test/pickle  a name that leads out of the folder; no safetensors
  test/endless              a list that never ends
Revisions other than main and the commit are not there.
"""
import hashlib
import http.server
import json
import pathlib
import sys
import threading
import time

COMMIT = "c0ffee" + "0" * 34
LARGE = ".safetensors"
model, state = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
lock = threading.Lock()
counts = {}


def count(key):
    """How often this was asked, this time included."""
    with lock:
        counts[key] = counts.get(key, 0) + 1
        return counts[key]


def git_sha1(data):
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def record(self, status):
        line = {"host": self.host, "path": self.path, "status": status, "range": self.headers.get("Range"),
                "if_range": self.headers.get("If-Range"), "token": self.headers.get("Authorization")}
        with lock, open(state / "log", "a") as log:
            log.write(json.dumps(line) + "\n")

    def answer(self, status, body=b"", headers=()):
        self.record(status)
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Hub(Handler):
    host = "hub"

    def do_GET(self):
        parts = self.path.strip("/").split("/")
        if parts[:2] == ["api", "models"]:
            return self.list_files("/".join(parts[2:4]), parts[5])
        repository, commit, name = "/".join(parts[:2]), parts[3], "/".join(parts[4:])
        if self.refused(repository):
            return
        path = model / name
        if commit not in ("main", COMMIT) or not path.is_file():
            return self.answer(404, b"Entry not found")
        data = path.read_bytes()
        if name.endswith(LARGE):
            port = (state / "ports").read_text().split()[1]
            return self.answer(302, b"", [("Location", f"http://127.0.0.1:{port}/{repository}/{name}"),
                                          ("X-Linked-Etag", f'"{hashlib.sha256(data).hexdigest()}"'),
                                          ("X-Linked-Size", str(len(data)))])
        tag = git_sha1(data)
        if repository == "test/corrupt-small":
            data = b"x" * len(data)
        self.answer(200, data, [("ETag", f'"{tag}"')])

    def refused(self, repository):
        if repository != "test/private" or self.headers.get("Authorization") == "Bearer secret":
            return False
        self.answer(401, b'{"error":"Invalid username or password."}')
        return True

    def list_files(self, repository, revision):
        if self.refused(repository):
            return
        if repository == "test/flaky" and count("list") <= 2:
            return self.answer(500, b"try later")
        if revision not in ("main", COMMIT):
            return self.answer(404, b'{"error":"Invalid rev id"}')
        if repository == "test/endless":
            return self.endless()
        names = [str(path.relative_to(model)) for path in sorted(model.rglob("*")) if path.is_file()]
        names += ["pytorch_model.bin", "onnx/model.onnx", "README.md"]
        if repository == "test/escape":
            names.append("../../evil.safetensors")
        if repository == "test/pickle":
            names = [name for name in names if not name.endswith(LARGE)]
        self.answer(200, json.dumps({"sha": COMMIT, "siblings": [{"rfilename": name} for name in names]}).encode())

    def endless(self):
        self.record(200)
        self.send_response(200)
        self.end_headers()
        self.close_connection = True
        try:
            while True:
                self.wfile.write(b'{"sha": "' + b"0" * (1 << 20))
        except OSError:
            pass


class Storage(Handler):
    host = "storage"

    def do_GET(self):
        repository, name = self.path[1:].rsplit("/", 1)
        data = (model / name).read_bytes()
        number = count(self.path)
        tag = f'"storage-{number if repository == "test/changed" else 0}"'
        first, wanted = 0, self.headers.get("Range")
        if wanted and self.headers.get("If-Range") == tag:
            first = int(wanted.removeprefix("bytes=").removesuffix("-"))
        if repository == "test/corrupt":
            data = data[:-1] + b"?"
        self.record(206 if first else 200)
        self.send_response(206 if first else 200)
        self.send_header("ETag", tag)
        if first:
            self.send_header("Content-Range", f"bytes {first}-{len(data) - 1}/{len(data)}")
        if repository == "test/long":
            self.close_connection = True
            data += b"and more"
        else:
            self.send_header("Content-Length", str(len(data) - first))
        self.end_headers()
        self.send_body(repository, data[first:], len(data))

    def send_body(self, repository, data, whole):
        if repository == "test/flaky" and len(data) > whole // 3:
            data = data[:whole // 3]
            self.close_connection = True
        if repository == "test/changed" and count("changed body") == 1:
            data = data[:whole // 2]
            self.close_connection = True
        step = max(1, whole // 40) if repository == "test/slow" else max(1, len(data))
        for begin in range(0, len(data), step):
            self.wfile.write(data[begin:begin + step])
            if repository == "test/slow":
                time.sleep(0.1)


servers = [http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) for handler in (Hub, Storage)]
(state / "ports.new").write_text(" ".join(str(server.server_port) for server in servers) + "\n")
(state / "ports.new").rename(state / "ports")
threading.Thread(target=servers[1].serve_forever, daemon=True).start()
servers[0].serve_forever()
