#!/usr/bin/env python3
"""heed chat in a terminal: what is typed arrives, Chinese too and in any locale; Ctrl-C clears the line or ends the answer,
a message that is too long is not the end, Ctrl-D is.
usage: chat_test.py <heed program> <make_model program>
"""
import json
import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time

HEED, MAKE_MODEL = sys.argv[1:3]
# What the model is given depends on whether the message has these characters.
TEMPLATE = ("{% for m in messages %}{% if m.role == 'user' %}{{ 'lazy dog' if '你好' in m.content else m.content }} {% else %}"
            "over {% endif %}{% endfor %}the")


class Terminal:
    def __init__(self, folder, *flags, **variables):
        self.seen = ""
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            environment = {key: value for key, value in os.environ.items() if not key.startswith(("LC_", "LANG"))}
            os.environ.clear()
            os.environ.update(environment, TERM="xterm", **variables)
            os.execv(HEED, [HEED, "chat", "--model", str(folder), *flags])

    def read_until(self, pattern, seconds=60):
        end = time.monotonic() + seconds
        while not (found := re.search(pattern, self.seen)):
            assert time.monotonic() < end, f"no {pattern!r} in {self.seen!r}"
            if select.select([self.master], [], [], 0.1)[0]:
                try:
                    data = os.read(self.master, 65536)
                except OSError:
                    data = b""
                assert data, f"ended without {pattern!r}: {self.seen!r}"
                self.seen += data.decode(errors="replace")
        before, self.seen = self.seen[:found.start()], self.seen[found.end():]
        return before + found.group()

    def type(self, text):
        os.write(self.master, text.encode())

    def exit_code(self, seconds=30):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if select.select([self.master], [], [], 0.1)[0]:
                try:
                    self.seen += os.read(self.master, 65536).decode(errors="replace")
                except OSError:
                    pass
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                assert not os.WIFSIGNALED(status), f"signal {os.WTERMSIG(status)}"
                return os.WEXITSTATUS(status)
        os.kill(self.pid, signal.SIGKILL)
        raise AssertionError(f"did not end: {self.seen!r}")


def piped(folder, *messages, flags=()):
    """The answers where no terminal is there."""
    text = "".join(message + "\n" for message in messages)
    run = subprocess.run([HEED, "chat", "--model", str(folder), *flags], input=text, capture_output=True, text=True, check=True)
    return run.stdout.splitlines()


def plain(text):
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).replace("\r", "")


def main(folder):
    subprocess.run([MAKE_MODEL, str(folder), "generate"], check=True)
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": TEMPLATE}))
    flags = ["--max-new-tokens", "8"]
    hello, fox = piped(folder, "你好", flags=flags)[0], piped(folder, "fox", flags=flags)[0]
    assert hello != fox, hello

    for variables in ({"LANG": "C.UTF-8"}, {}, {"LC_ALL": "POSIX"}):
        chat = Terminal(folder, *flags, **variables)
        chat.read_until("> ")
        chat.type("你好\r")
        assert hello in plain(chat.read_until(re.escape(hello) + r".*\n> ")), (variables, hello)
        chat.type("\x04")
        assert chat.exit_code() == 0

    chat = Terminal(folder, *flags)
    chat.read_until("> ")
    # Ctrl-C at the prompt, with a line begun and without one: it is gone, and the program is not.
    chat.type("quick brown")
    chat.read_until("brown")
    chat.type("\x03")
    chat.read_until("> ")
    chat.type("\x03")
    chat.read_until("> ")
    chat.type("fox\r")
    chat.read_until(re.escape(fox) + r".*\n> ")
    # 64 tokens are too many; the conversation goes on as if nothing had been said.
    chat.type("/clear\r")
    chat.read_until("> ")
    chat.type("fox " * 80 + "\r")
    chat.read_until(r"heed: .*the model takes 64")
    chat.read_until("> ")
    chat.type("fox\r")
    chat.read_until(re.escape(fox) + r".*\n> ")
    chat.type("\x04")
    assert chat.exit_code() == 0

    stories = pathlib.Path(os.environ.get("HEED_SHARED", pathlib.Path(__file__).parents[3] / "shared")) / "weights/stories15M"
    if not stories.is_dir():
        print(f"chat: {stories} is not there; Ctrl-C in an answer is left out")
        return
    # Ctrl-C in an answer ends it.
    slow = folder / "slow"
    slow.mkdir()
    for file in stories.iterdir():
        if file.name != "tokenizer_config.json":
            (slow / file.name).symlink_to(file.resolve())
    settings = json.loads((stories / "tokenizer_config.json").read_text())
    (slow / "tokenizer_config.json").write_text(json.dumps({**settings, "chat_template": "Once upon a time"}))
    chat = Terminal(slow, "--max-new-tokens", "200", "--min-new-tokens", "200", "--threads", "1")
    chat.read_until("> ")
    chat.type("go\r")
    chat.read_until("there was")
    chat.type("\x03")
    answer = chat.read_until("> ")
    assert len(answer) < 700, answer
    chat.type("\x04")
    assert chat.exit_code() == 0


with tempfile.TemporaryDirectory() as temporary:
    main(pathlib.Path(temporary) / "model")
print("chat: passed")
