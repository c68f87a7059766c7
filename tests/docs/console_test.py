#!/usr/bin/python3 -B
"""Runs the console blocks of Markdown files and compares what the commands print with what the page says. Of commands
in sh blocks heed must know the verbs, flags and config fields. They are run too: where the comment "a test runs this
block" stands above, before all others, as a newcomer would who has nothing but a clone (Newcomer); and on the pages in
RUN, with models with random weights (SmallModels).
usage: console_test.py <heed program> <make_model program> <shared data> <page>...
exit 77: the models of the pages are not there

A line "$ command" is run, all of a page in one folder, where the models stand under their names; the lines after it are
what it prints. "..." stands for any text within a line, and alone on a line for any number of lines. Numbers may differ
a little, for instruction sets round differently. Pictures must be there, and small."""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time

from small_models import SmallModels

RUN = ["README.md", "look.md"]
MODELS = {"all-MiniLM-L6-v2": "weights/minilm", "bert-tiny-toxicity": "weights/bert-tiny-toxicity"}
MOST_BYTES = 150_000  # of a picture
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


def heed_lines(page, marked):
    """The lines of sh blocks that begin with heed; with or without those of blocks that are marked to be run."""
    sh_block = re.compile(r"^(<!-- a test runs this block -->\n)?```sh\n(.*?)^```$", re.DOTALL | re.MULTILINE)
    for mark, block in sh_block.findall(page):
        if marked or not mark:
            yield from (line for line in block.replace("\\\n", " ").splitlines() if line.startswith("heed "))


def words_of(line):
    """What follows heed, up to a pipe or a redirection."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split = True
    words = list(lexer)
    end = next((i for i, word in enumerate(words) if word[0] in "|&;<>"), len(words))
    return words[1:end]


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


def read(page):
    with open(page, encoding="utf-8") as file:
        return file.read()


class Count:
    """How many commands passed and failed."""

    def __init__(self):
        self.all = self.failed = 0

    def add(self, passed, *report):
        self.all += 1
        if not passed:
            self.failed += 1
            print(*report, sep="\n")


def check_known(heed, fields, page, count):
    for line in heed_lines(read(page), marked=True):
        unknown = complaints(heed, words_of(line), fields)
        count.add(not unknown, f"{page}: {line}: heed does not know {', '.join(unknown)}")


def check_pictures(page, count):
    for name in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", read(page)):
        path = os.path.join(os.path.dirname(page), name)
        count.add(os.path.isfile(path) and os.path.getsize(path) <= MOST_BYTES,
                  f"{page}: the picture {name} is not there or has more than {MOST_BYTES} bytes")


def run_with_small_models(heed, make_model, page, count):
    with tempfile.TemporaryDirectory() as work:
        models = SmallModels(heed, make_model, work)
        for line in heed_lines(read(page), marked=False):
            models.fit(words_of(line)[0])
            run = run_shell(heed, line, work, "Who?\n")
            count.add(run.returncode == 0, f"{page}: {line}: exit code {run.returncode}, printed:",
                      run.stdout + run.stderr)


def run_shell(heed, command, work, typed=""):
    runnable = re.sub(r"^heed ", shlex.quote(heed) + " ", command)
    return subprocess.run(["bash", "-c", runnable], cwd=work, input=typed, capture_output=True, text=True, check=False)


def run_page(heed, shared, page, count):
    """What is marked, then the console blocks, in one folder."""
    text = read(page)
    blocks = runnable_blocks(text)
    with tempfile.TemporaryDirectory() as work:
        if blocks:
            newcomer = Newcomer(heed, os.path.realpath(os.path.join(shared, MODELS["all-MiniLM-L6-v2"])), work)
            try:
                for block in blocks:
                    code, printed = newcomer.run(block)
                    count.add(code == 0, f"{page}: exit code {code} of\n{block}it printed:", printed)
            finally:
                newcomer.leave()
        else:
            for name, folder in MODELS.items():
                os.symlink(os.path.realpath(os.path.join(shared, folder)), os.path.join(work, name))
        for command, expected in commands_of(text):
            run = run_shell(heed, command, work)
            count.add(run.returncode == 0 and fits(expected, run.stdout.splitlines()),
                      f"{page}: $ {command}\nexit code {run.returncode}, printed:\n{run.stdout}{run.stderr}expected:",
                      *expected)


def main():
    heed, make_model, shared, *pages = sys.argv[1:]
    heed, make_model = os.path.abspath(heed), os.path.abspath(make_model)
    shared = os.environ.get("HEED_SHARED", shared)
    fields = set(config_fields(heed))
    known, pictures, run, printed = Count(), Count(), Count(), Count()
    for page in pages:
        check_known(heed, fields, page, known)
        check_pictures(page, pictures)
        if os.path.basename(page) in RUN:
            run_with_small_models(heed, make_model, page, run)
    print(f"sh blocks: {known.all} commands, {known.failed} not known; {run.all} run, {run.failed} failed", flush=True)
    if known.failed or pictures.failed or run.failed or 0 in (known.all, pictures.all, run.all):
        return 1
    for folder in MODELS.values():
        if not os.path.isdir(os.path.join(shared, folder)):
            print(f"skipped: no {os.path.realpath(os.path.join(shared, folder))}")
            return 77
    for page in pages:
        run_page(heed, shared, page, printed)
    print(f"{printed.all - printed.failed} passed, {printed.failed} failed")
    return 1 if printed.failed or printed.all == 0 else 0


sys.exit(main())
