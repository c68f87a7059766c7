#!/usr/bin/env python3
"""heed chat in a terminal: what is typed arrives, Chinese too and in any locale; arrows bring back what was typed before;
Ctrl-C clears the line or ends the answer, a message that is too long is not the end, Ctrl-D is. What the model is asked, by
the answers of heed generate: --system, /clear, /retry. --colors by the probabilities of heed generate.
usage: chat_test.py <heed program> <make_model program>
"""
import json
import math
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
TEMPLATE = ("{% for m in messages %}{% if m.role == 'assistant' %}over {% else %}"
            "{{ 'lazy dog' if '你好' in m.content else m.content }} {% endif %}{% endfor %}the")


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


def generated(folder, prompt, *flags):
    """What heed generate makes of the prompt: {"text", "token_scores"}."""
    output = folder.parent / "generated.jsonl"
    subprocess.run([HEED, "generate", "--model", str(folder), prompt, "--alternatives", "1", "--output", str(output), *flags],
                   check=True)
    return json.loads(output.read_text())


def expect_questions(folder, flags):
    """Every answer is that to the conversation as the template shows it; over stands for an answer."""
    def expect(messages, prompts, *more):
        answers = piped(folder, *messages, flags=[*flags, *more])
        expected = [generated(folder, prompt, *flags)["text"] for prompt in prompts]
        assert answers == expected, (messages, answers, expected)

    expect(["fox", "dog", "/clear", "dog"], ["fox the", "fox over dog the", "dog the"])
    expect(["fox", "/clear", "dog"], ["quick brown fox the", "quick brown dog the"], "--system", "quick brown")
    # The answer that is tried again is gone for good, and the message is there once.
    expect(["/retry", "fox", "/retry", "/retry", "dog", "/clear", "/retry"], ["fox the"] * 3 + ["fox over dog the"])
    sampled = [*flags, "--do-sample", "--seed", "5"]
    tries = piped(folder, "fox", "/retry", "/retry", flags=sampled)
    assert tries == [generated(folder, "fox the", *flags, "--do-sample", "--seed", str(5 + i))["text"] for i in range(3)], tries
    assert len(set(tries)) == 3, tries
    expect(["/help", "", "fox", "/quit", "dog"], ["fox the"])


def expect_colors(folder, flags):
    """A token that the model believed with less than 0.6 has a colour, and so has no other; the text is the same."""
    shades = set()
    for prompt in ("fox", "the dog", "quick", "over", "jumps in berlin"):
        answer, = piped(folder, prompt, flags=[*flags, "--colors"])
        found = generated(folder, prompt + " the", *flags)
        sure = [math.exp(each["log_probability"]) for each in found["token_scores"]]
        expected = ["" if each >= 0.6 else str((196, 202, 208, 214, 220, 226)[int(each * 10)]) for each in sure]
        pieces = re.findall(r"\x1b\[38;5;(\d+)m([^\x1b]*)\x1b\[0m|([^\x1b]+)", answer)
        assert "".join(text + other for _, text, other in pieces) == found["text"] == plain(answer), (answer, found)
        assert [shade for shade, _, _ in pieces if shade] == [shade for shade in expected if shade], (answer, sure)
        shades.update(expected)
    assert len(shades) > 2, shades


def expect_history(folder, flags):
    """The arrow up brings back the line before, the arrow down goes on; keys edit what is there."""
    chat = Terminal(folder, *flags, LANG="C.UTF-8")
    chat.read_until("> ")
    asked = ""
    for keys, message in (("fox", "fox"), ("dog", "dog"), ("\x1b[A", "dog"), ("\x1b[A\x1b[A\x1b[A", "fox"),
                          ("\x1b[A\x1b[A\x1b[B", "fox"), ("brow\x1b[D\x1b[D\x1b[D\x1b[D\x1b[C\x7fl\x05n", "lrown"),
                          ("\x1b[A\x01\x1b[3~b", "brown"), ("你们x\x7f\x7f好", "你好")):
        chat.type(keys + "\r")
        asked += {"你好": "lazy dog"}.get(message, message) + " "
        answer = generated(folder, asked + "the", *flags)["text"]
        chat.read_until(re.escape(answer) + r"[^\n]*\n> ")
        asked += "over "
    chat.type("\x04")
    assert chat.exit_code() == 0


def plain(text):
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).replace("\r", "")


def main(folder):
    subprocess.run([MAKE_MODEL, str(folder), "generate"], check=True)
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": TEMPLATE}))
    flags = ["--max-new-tokens", "8"]
    hello, fox = piped(folder, "你好", flags=flags)[0], piped(folder, "fox", flags=flags)[0]
    assert hello != fox, hello
    expect_questions(folder, flags)
    expect_colors(folder, flags)
    expect_history(folder, ["--max-new-tokens", "2"])

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
