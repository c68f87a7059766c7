#!/usr/bin/python3
"""Renders templates with jinja2, in the environment that HuggingFace makes for chat templates.
usage: jinja.py <questions> <answers>

Questions are lines of JSON, {"template", "variables"}; each gets a line {"text", "generated"} or {"error"}. What stands
in {% generation %} is given as bytes [begin, end) of the text."""
import datetime
import functools
import json
import sys

import jinja2
import jinja2.ext
import jinja2.nodes
import jinja2.sandbox


class Generation(jinja2.ext.Extension):
    tags = {"generation"}
    written = []  # what the template has given so far
    ranges = []

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("note"), [], [], body).set_lineno(line)

    def note(self, caller):
        text = caller()
        begin = len("".join(self.written).encode())
        self.ranges.append([begin, begin + len(text.encode())])
        return text


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def environment():
    made = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])
    made.filters["tojson"] = tojson
    made.globals["raise_exception"] = raise_exception
    made.globals["strftime_now"] = lambda form: datetime.datetime.now().strftime(form)
    return made


def answer(compiled, question):
    Generation.written, Generation.ranges = [], []
    try:
        for piece in compiled(question["template"]).generate(**question["variables"]):
            Generation.written.append(piece)
        text = "".join(Generation.written)
        text.encode()
        return {"text": text, "generated": Generation.ranges}
    except Exception as error:  # whatever a template can raise is a refusal
        return {"error": f"{type(error).__name__}: {error}"}


def main():
    compiled = functools.lru_cache(environment().from_string)
    with open(sys.argv[1], encoding="utf-8") as asked, open(sys.argv[2], "w", encoding="utf-8") as answered:
        for line in asked:
            print(json.dumps(answer(compiled, json.loads(line))), file=answered)


main()
