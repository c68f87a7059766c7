#!/usr/bin/python3
"""Runs the console blocks of Markdown files and compares what the commands print with what the page says. Commands in
sh blocks are not run, but heed must know their verbs, flags and config fields; those after the comment "a test runs this
block" are run, before the others, as a newcomer would who has nothing but a clone (Newcomer).
usage: console_test.py <heed program> <shared data> <page>...        exit 77: the models of the pages are not there

A line "$ command" is run, all of a page in one folder, where the models stand under their names; the lines after it are
what it prints. "..." stands for any text within a line, and alone on a line for any number of lines. Numbers may differ
a little, for instruction sets round differently."""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time

MODELS = {"all-MiniLM-L6-v2": "weights/minilm", "bert-tiny-toxicity": "weights/bert-tiny-toxicity"}
NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
TOLERANCE = 2e-3


def commands_of(page):
    """[(command, [expected lines])] of all console blocks."""
    found = []
    for block in re.findall(r"^```console\n(.*?)^```$", page, re.DOTALL | re.MULTILINE):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return found


def heed_commands(page):
    """The commands of heed in sh blocks, as lists of words."""
    for block in re.findall(r"^```sh\n(.*?)^```$", page, re.DOTALL | re.MULTILINE):
        for line in block.replace("\\\n", " ").splitlines():
            lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
            lexer.whitespace_split = True
            words = list(lexer)
            end = next((i for i, word in enumerate(words) if word[0] in "|&;<>"), len(words))
            if words[:1] == ["heed"]:
                yield words[1:end]


def complaints(heed, words, fields):
    """What heed does not know of a command."""
    verbs = []
    for word in words:
        run = subprocess.run([heed, "help", *verbs, word], capture_output=True, text=True, check=False)
        if run.returncode != 0:
            break
        verbs.append(word)
        known = set(re.findall(r"--[a-z][a-z-]*", run.stdout))
    if not verbs:
        return [] if words[:1] == ["--help"] else ["the verb"]
    flags = [word.split("=")[0] for word in words if word.startswith("--")]
    unknown = [flag for flag in flags if flag not in known]
    if verbs == ["train"]:
        names = [word.split("=")[0] for word in words if re.match(r"[a-z_.]+=", word)]
        unknown += [name for name in names if name not in fields]
    return unknown


def config_fields(heed):
    schema = json.loads(subprocess.run([heed, "train", "--schema"], capture_output=True, text=True, check=True).stdout)
    for name, field in schema["properties"].items():
        yield name
        yield from (f"{name}.{part}" for part in field.get("properties", {}))


class Newcomer:
    """A folder like a clone, with a demo.sh that builds nothing, and a hub that has all-MiniLM-L6-v2."""

    def __init__(self, heed, model, work):
        folder = os.path.join(work, "build/demo/bin")
        os.makedirs(folder)
        os.symlink(heed, os.path.join(folder, "heed"))
        demo = os.path.join(work, "demo.sh")
        with open(demo, "w", encoding="utf-8") as file:
            file.write('#!/bin/bash\nset -e\ncd "$(dirname "$0")"\nexec build/demo/bin/heed demo "$@"\n')
        os.chmod(demo, 0o755)
        self.work, self.state = work, tempfile.mkdtemp(dir=work)
        server = os.path.join(os.path.dirname(__file__), "..", "apps", "hub_server.py")
        self.hub = subprocess.Popen([sys.executable, "-B", server, model, self.state])
        ports = os.path.join(self.state, "ports")
        while not os.path.exists(ports):
            if self.hub.poll() is not None:
                raise RuntimeError("the hub of this test does not start")
            time.sleep(0.1)
        with open(ports, encoding="utf-8") as file:
            self.port = file.read().split()[0]

    def run(self, block):
        """The exit code, and what was printed. At the end heed must be the one of the clone."""
        environment = {**os.environ, "HEED_CACHE": os.path.join(self.state, "cache"), "no_proxy": "127.0.0.1",
                       "HF_ENDPOINT": f"http://127.0.0.1:{self.port}"}
        environment.pop("HF_TOKEN", None)
        script = block + '[[ $(command -v heed) == "$PWD/build/demo/bin/heed" ]]\n'
        done = subprocess.run(["bash", "-euc", script], cwd=self.work, env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        return done.returncode, done.stdout

    def leave(self):
        self.hub.kill()
        self.hub.wait()


def runnable_blocks(page):
    return re.findall(r"^<!-- a test runs this block -->\n```sh\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)


def line_fits(expected, printed):
    pattern, numbers = "", []
    for part in re.split(rf"(\.\.\.|{NUMBER.pattern})", expected):
        if part == "...":
            pattern += ".*"
        elif NUMBER.fullmatch(part or ""):
            pattern += rf"({NUMBER.pattern})"
            numbers.append(float(part))
        else:
            pattern += re.escape(part)
    match = re.fullmatch(pattern, printed)
    return bool(match) and all(abs(a - float(b)) <= TOLERANCE * max(1, abs(a)) for a, b in zip(numbers, match.groups()))


def fits(expected, printed):
    if not expected:
        return not printed
    if expected[0].strip() == "...":
        return any(fits(expected[1:], printed[skip:]) for skip in range(len(printed) + 1))
    return bool(printed) and line_fits(expected[0], printed[0]) and fits(expected[1:], printed[1:])


def main():
    heed, shared, *pages = sys.argv[1:]
    heed = os.path.abspath(heed)
    shared = os.environ.get("HEED_SHARED", shared)
    fields, checked, failed = set(config_fields(heed)), 0, 0
    for page in pages:
        with open(page, encoding="utf-8") as file:
            for words in heed_commands(file.read()):
                checked += 1
                for unknown in complaints(heed, words, fields):
                    failed += 1
                    print(f"{page}: heed {shlex.join(words)}: heed does not know {unknown}")
    print(f"{checked} commands of sh blocks, {failed} not known")
    if failed or checked == 0:
        return 1
    for folder in MODELS.values():
        if not os.path.isdir(os.path.join(shared, folder)):
            print(f"skipped: no {os.path.realpath(os.path.join(shared, folder))}")
            return 77
    count = 0
    for page in pages:
        with open(page, encoding="utf-8") as file:
            text = file.read()
        blocks, commands = runnable_blocks(text), commands_of(text)
        with tempfile.TemporaryDirectory() as work:
            if blocks:
                newcomer = Newcomer(heed, os.path.realpath(os.path.join(shared, MODELS["all-MiniLM-L6-v2"])), work)
                try:
                    for block in blocks:
                        count += 1
                        code, printed = newcomer.run(block)
                        if code != 0:
                            failed += 1
                            print(f"{page}: exit code {code} of\n{block}it printed:\n{printed}")
                finally:
                    newcomer.leave()
            else:
                for name, folder in MODELS.items():
                    os.symlink(os.path.realpath(os.path.join(shared, folder)), os.path.join(work, name))
            for command, expected in commands:
                count += 1
                runnable = re.sub(r"^heed ", shlex.quote(heed) + " ", command)
                run = subprocess.run(["bash", "-c", runnable], cwd=work, capture_output=True, text=True, check=False)
                if run.returncode != 0 or not fits(expected, run.stdout.splitlines()):
                    failed += 1
                    print(f"{page}: $ {command}\nexit code {run.returncode}, printed:\n{run.stdout}{run.stderr}")
                    print("expected:\n" + "\n".join(expected))
    print(f"{count - failed} passed, {failed} failed")
    return 1 if failed or count == 0 else 0


sys.exit(main())
