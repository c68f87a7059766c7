"""What Python's re and jsonschema say: python_answers.py QUESTIONS ANSWERS, two JSON files with lists of equal length.

{"pattern": ..., "texts": [...]}  ->  [does re.fullmatch match, ...]
{"schema": ..., "texts": [...]}   ->  ["" or what is wrong with the text, ...]
"""
import datetime
import json
import re
import sys


def check(validator, text):
    try:
        validator.validate(json.loads(text))
        return ""
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"


def answer(question):
    if "pattern" in question:
        pattern = re.compile(question["pattern"], re.ASCII)
        return [pattern.fullmatch(text) is not None for text in question["texts"]]
    import jsonschema

    checker = jsonschema.FormatChecker()
    # Its own check of "time" is that of an older draft, and it has none of "date-time".
    checker.checks("time", ValueError)(lambda text: datetime.time.fromisoformat(text))
    checker.checks("date-time", ValueError)(lambda text: datetime.datetime.fromisoformat(text))
    validator = jsonschema.Draft202012Validator(question["schema"], format_checker=checker)
    return [check(validator, text) for text in question["texts"]]


with open(sys.argv[1], encoding="utf-8") as file:
    questions = json.load(file)
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump([answer(question) for question in questions], file)
