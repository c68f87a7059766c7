"""Reads TensorBoard's event files for tensorboard_test.cpp, written from the formats' descriptions.

usage: event_file.py <event file> <answer.json>
answer: a list of events {step, version | session | tag with value, histogram or image}, an image with its pixels.
"""
import json
import struct
import sys
import zlib


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(data):
    place = 0
    while place < len(data):
        header = data[place:place + 8]
        (size,) = struct.unpack("<Q", header)
        (header_crc,) = struct.unpack("<I", data[place + 8:place + 12])
        content = data[place + 12:place + 12 + size]
        (content_crc,) = struct.unpack("<I", data[place + 12 + size:place + 16 + size])
        assert header_crc == masked(header) and content_crc == masked(content), f"checksum at {place}"
        yield content
        place += 16 + size


def varint(data, place):
    value = shift = 0
    while True:
        value |= (data[place] & 127) << shift
        shift += 7
        place += 1
        if data[place - 1] < 128:
            return value, place


def fields(data):
    """{number: value} of a message without repeated fields that are not packed."""
    found, place = {}, 0
    while place < len(data):
        key, place = varint(data, place)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, place = varint(data, place)
        elif kind == 2:
            size, place = varint(data, place)
            value, place = data[place:place + size], place + size
        else:
            size, code = {1: (8, "<d"), 5: (4, "<f")}[kind]
            (value,), place = struct.unpack(code, data[place:place + size]), place + size
        assert number not in found, f"field {number} twice"
        found[number] = value
    return found


def doubles(data):
    return list(struct.unpack(f"<{len(data) // 8}d", data))


def pixels(png):
    """Rows of a grey PNG of 8 bits without filters; Python's own zlib checks and unpacks it."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    place, chunks = 8, {}
    while place < len(png):
        (size,) = struct.unpack(">I", png[place:place + 4])
        kind, content = png[place + 4:place + 8], png[place + 8:place + 8 + size]
        (crc,) = struct.unpack(">I", png[place + 8 + size:place + 12 + size])
        assert crc == zlib.crc32(kind + content), kind
        chunks[kind.decode()] = content
        place += 12 + size
    assert list(chunks) == ["IHDR", "IDAT", "IEND"], list(chunks)
    width, height, *kind = struct.unpack(">IIBBBBB", chunks["IHDR"])
    assert kind == [8, 0, 0, 0, 0], kind
    data = zlib.decompress(chunks["IDAT"])
    assert len(data) == height * (width + 1)
    rows = [data[y * (width + 1):(y + 1) * (width + 1)] for y in range(height)]
    assert all(row[0] == 0 for row in rows)
    return [list(row[1:]) for row in rows]


def read(event):
    event = fields(event)
    assert event[1] > 1.5e9  # seconds since 1970
    found = {"step": event[2]}
    if 3 in event:
        found["version"] = event[3].decode()
    if 7 in event:
        found["session"] = fields(event[7])[1]
    if 5 in event:
        value = fields(fields(event[5])[1])
        found["tag"] = value[1].decode()
        if 2 in value:
            found["value"] = value[2]
        if 4 in value:
            image = fields(value[4])
            found["image"] = pixels(image[4])
            assert (image[1], image[2], image[3]) == (len(found["image"]), len(found["image"][0]), 1)
        if 5 in value:
            h = fields(value[5])
            found["histogram"] = {"min": h[1], "max": h[2], "num": h[3], "sum": h[4], "squares": h[5],
                                  "limits": doubles(h[6]), "counts": doubles(h[7])}
    return found


with open(sys.argv[1], "rb") as file:
    events = [read(content) for content in records(file.read())]
with open(sys.argv[2], "w") as file:
    json.dump(events, file)
