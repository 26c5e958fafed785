# SPDX-License-Identifier: Apache-2.0
"""Event logs unpacked a second time, in another language and the slow way: the bytes of a file of any codec that Spark writes, up to a cut. The first bytes decide, not the name."""
import ctypes
import ctypes.util
import struct

LZ4_MAGIC, LZ4_STORED = b"LZ4Block", 0x10
SNAPPY_HEADER_BYTES = 16  # magic of eight bytes, two versions
ZSTD_MAGIC, ROOM_BYTES = b"\x28\xb5\x2f\xfd", 1 << 20


def copy_back(out, distance, length):
    """What an LZ77 format means by "go back and copy": the source may run into what is being written."""
    start = len(out) - distance
    if distance >= length:
        out += out[start : start + length]
    else:
        piece = bytes(out[start:])
        out += (piece * (length // distance + 1))[:length]


def lz4_block(data):
    out, at = bytearray(), 0

    def length(nibble, at):
        if nibble == 15:
            more = 255
            while more == 255:
                more = data[at]
                nibble, at = nibble + more, at + 1
        return nibble, at

    while at < len(data):
        token = data[at]
        count, at = length(token >> 4, at + 1)
        out += data[at : at + count]
        at += count
        if at >= len(data):
            break
        distance = data[at] | data[at + 1] << 8
        count, at = length(token & 15, at + 2)
        copy_back(out, distance, count + 4)
    return bytes(out)


def lzf_chunk(data):
    out, at = bytearray(), 0
    while at < len(data):
        control, at = data[at], at + 1
        if control < 32:
            out += data[at : at + control + 1]
            at += control + 1
            continue
        count = control >> 5
        if count == 7:
            count, at = count + data[at], at + 1
        copy_back(out, ((control & 31) << 8 | data[at]) + 1, count + 2)
        at += 1
    return bytes(out)


def snappy_block(data):
    at = 0
    while data[at] & 128:  # the length of the text, seven bits a byte
        at += 1
    out, at = bytearray(), at + 1
    while at < len(data):
        tag, at = data[at], at + 1
        kind, count = tag & 3, tag >> 2
        if kind == 0:
            if count >= 60:
                wide = count - 59
                count, at = int.from_bytes(data[at : at + wide], "little"), at + wide
            out += data[at : at + count + 1]
            at += count + 1
        elif kind == 1:
            copy_back(out, (tag >> 5) << 8 | data[at], (count & 7) + 4)
            at += 1
        else:
            wide = 2 if kind == 2 else 4
            copy_back(out, int.from_bytes(data[at : at + wide], "little"), count + 1)
            at += wide
    return bytes(out)


def lz4_pieces(data):
    at = 0
    while data[at : at + 8] == LZ4_MAGIC:
        method, packed = data[at + 8] & 0xF0, struct.unpack_from("<I", data, at + 9)[0]
        piece = data[at + 21 : at + 21 + packed]
        yield piece if method == LZ4_STORED else lz4_block(piece)
        at += 21 + packed


def lzf_pieces(data):
    at = 0
    while data[at : at + 2] == b"ZV":
        packed, head = struct.unpack_from(">H", data, at + 3)[0], 7 if data[at + 2] else 5
        piece = data[at + head : at + head + packed]
        yield lzf_chunk(piece) if data[at + 2] else piece
        at += head + packed


def snappy_pieces(data):
    at = SNAPPY_HEADER_BYTES
    while at + 4 <= len(data):
        packed = struct.unpack_from(">I", data, at)[0]
        yield snappy_block(data[at + 4 : at + 4 + packed])
        at += 4 + packed


class Part(ctypes.Structure):
    """ZSTD_inBuffer, ZSTD_outBuffer."""

    _fields_ = [("start", ctypes.c_void_p), ("size", ctypes.c_size_t), ("at", ctypes.c_size_t)]


def zstd_pieces(data):
    """By the library itself: the zstd command throws away what came before a cut."""
    library = ctypes.CDLL(ctypes.util.find_library("zstd"))
    library.ZSTD_createDStream.restype, library.ZSTD_decompressStream.restype = ctypes.c_void_p, ctypes.c_size_t
    stream, source, room = ctypes.c_void_p(library.ZSTD_createDStream()), ctypes.create_string_buffer(data, len(data)), ctypes.create_string_buffer(ROOM_BYTES)
    rest = Part(ctypes.addressof(source), len(data), 0)
    while True:
        out = Part(ctypes.addressof(room), ROOM_BYTES, 0)
        left = library.ZSTD_decompressStream(stream, ctypes.byref(out), ctypes.byref(rest))
        if library.ZSTD_isError(ctypes.c_size_t(left)) or (out.at == 0 and rest.at == rest.size):
            break
        yield room.raw[: out.at]
    library.ZSTD_freeDStream(stream)


def unpacked(data):
    if data.startswith(ZSTD_MAGIC):
        return b"".join(zstd_pieces(data))
    if data.startswith(LZ4_MAGIC):
        return b"".join(lz4_pieces(data))
    if data.startswith(b"ZV"):
        return b"".join(lzf_pieces(data))
    if data.startswith(b"\x82SNAPPY\0"):
        return b"".join(snappy_pieces(data))
    return data
