// SPDX-License-Identifier: Apache-2.0
// Reads a zip archive as a careful client does: from the directory at its end, every entry checked against length and checksum.
import { inflateRawSync } from "node:zlib";

const END = 0x06054b50;
const END64 = 0x06064b50;
const CENTRAL = 0x02014b50;
const LOCAL = 0x04034b50;
const ZIP64_EXTRA = 1;

const CRC = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let bit = 0; bit < 8; bit++) n = n & 1 ? (n >>> 1) ^ 0xedb88320 : n >>> 1;
  return n;
});
const crc32 = (bytes) => ~bytes.reduce((crc, byte) => (crc >>> 8) ^ CRC[(crc ^ byte) & 255], ~0) >>> 0;

/** What the end of an archive says: how many entries, and where the directory of `bytes` long begins. `tail` are its last bytes, `total` its length. */
export function zipEnd(tail) {
  const end = tail.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]));
  if (end < 0 || tail.readUInt32LE(end) !== END) throw new Error("no end of a zip archive");
  const end64 = tail.lastIndexOf(Buffer.from([0x50, 0x4b, 6, 6]));
  const wide = end64 >= 0 && tail.readUInt32LE(end64) === END64;
  return wide
    ? { count: Number(tail.readBigUInt64LE(end64 + 32)), bytes: Number(tail.readBigUInt64LE(end64 + 40)), offset: Number(tail.readBigUInt64LE(end64 + 48)) }
    : { count: tail.readUInt16LE(end + 10), bytes: tail.readUInt32LE(end + 12), offset: tail.readUInt32LE(end + 16) };
}

/** Numbers of a directory entry that did not fit stand in its extra field, in order. */
function wideNumbers(extra, numbers) {
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== ZIP64_EXTRA) continue;
    let next = at + 4;
    return numbers.map((number) => {
      if (number !== 0xffffffff) return number;
      next += 8;
      return Number(extra.readBigUInt64LE(next - 8));
    });
  }
  return numbers;
}

/** Entries of a directory: [{name, method, crc, packed, size, offset}]. */
export function zipDirectory(directory) {
  const entries = [];
  for (let at = 0; at + 46 <= directory.length && directory.readUInt32LE(at) === CENTRAL; ) {
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((offset) => directory.readUInt16LE(at + offset));
    const extra = directory.subarray(at + 46 + nameLength, at + 46 + nameLength + extraLength);
    const [size, packed, offset] = wideNumbers(extra, [directory.readUInt32LE(at + 24), directory.readUInt32LE(at + 20), directory.readUInt32LE(at + 42)]);
    const name = directory.toString("utf8", at + 46, at + 46 + nameLength);
    entries.push({ name, method: directory.readUInt16LE(at + 10), crc: directory.readUInt32LE(at + 16), packed, size, offset });
    at += 46 + nameLength + extraLength + commentLength;
  }
  return entries;
}

/** [{name, method, bytes}] of an archive in memory. */
export function unzip(archive) {
  const end = zipEnd(archive);
  const entries = zipDirectory(archive.subarray(end.offset, end.offset + end.bytes));
  if (entries.length !== end.count) throw new Error(`${entries.length} entries, not ${end.count}`);
  return entries.map(({ name, method, crc, packed, size, offset }) => {
    if (archive.readUInt32LE(offset) !== LOCAL) throw new Error(`${name} does not begin where the directory says`);
    const begin = offset + 30 + archive.readUInt16LE(offset + 26) + archive.readUInt16LE(offset + 28);
    const data = archive.subarray(begin, begin + packed);
    const bytes = method === 8 ? inflateRawSync(data) : data;
    if (bytes.length !== size || crc32(bytes) !== crc) throw new Error(`${name} is damaged`);
    return { name, method, bytes };
  });
}
