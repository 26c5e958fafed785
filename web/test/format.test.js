// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { bytes, count, duration, nanoseconds, offset, percent, quantity, seconds, setLocale, setZone, shortCount, time, times, zoned, zoneName } from "../lib/format.js";

/** Narrow no-break spaces as blanks, so that the expected texts can be read. @param {string} s */
const plain = (s) => s.replaceAll("\u202f", " ");

beforeEach(() => {
  setLocale("en");
  setZone("utc");
});

describe("format", () => {
  it("writes unknown as a dash, never as 0 or NaN", () => {
    for (const f of [duration, nanoseconds, bytes, count, percent, times, offset, time]) {
      for (const v of [null, undefined, NaN, Infinity, "12"]) assert.equal(f(v), "\u2014");
    }
    assert.equal(time(9e15), "\u2014", "beyond what a Date can hold");
  });

  it("gives durations three digits up to 120 s, then two units", () => {
    const cases = {
      0: "0 ms",
      4.25: "4.3 ms",
      430: "430 ms",
      999: "999 ms",
      999.6: "1.00 s",
      5851: "5.85 s",
      9996: "10.0 s",
      22_100: "22.1 s",
      116_000: "116 s",
      119_949: "120 s",
      119_960: "2m 00s",
      211_000: "3m 31s",
      3_599_400: "59m 59s",
      3_599_600: "1h 00m",
      11_220_000: "3h 07m",
      86_390_000: "1d 00h",
      187_200_000: "2d 04h",
    };
    for (const [ms, text] of Object.entries(cases)) assert.equal(plain(duration(Number(ms))), text, ms);
    assert.equal(plain(duration(-5851)), "\u22125.85 s");
    assert.equal(plain(duration(-211_000)), "\u22123m 31s");
  });

  it("never shows 60 in the second unit", () => {
    for (let ms = 119_950; ms < 4e8; ms = Math.ceil(ms * 1.0007) + 1) assert.doesNotMatch(duration(ms), /(60s|60m|\d24h| 24h)/);
  });

  it("writes differences in seconds, with a sign", () => {
    assert.equal(plain(seconds(26_300, true)), "+26.3 s");
    assert.equal(plain(seconds(-400, true)), "\u22120.40 s");
    assert.equal(plain(seconds(-4, true)), "±0 s");
    assert.equal(plain(seconds(0, true)), "±0 s");
    assert.equal(plain(seconds(9880)), "9.88 s");
  });

  it("writes nanoseconds below a millisecond in microseconds", () => {
    assert.equal(plain(nanoseconds(0)), "0 ms");
    assert.equal(plain(nanoseconds(1500)), "1.50 µs");
    assert.equal(plain(nanoseconds(3_110_000_000)), "3.11 s");
  });

  it("divides bytes by 1024 and keeps three digits", () => {
    const cases = {
      0: "0 B",
      348: "348 B",
      999: "999 B",
      1000: "0.98 KiB",
      2836: "2.77 KiB",
      102_551_232: "97.8 MiB",
      1_048_000: "1.00 MiB",
      1.3e9: "1.21 GiB",
    };
    for (const [b, text] of Object.entries(cases)) assert.equal(plain(bytes(Number(b))), text, b);
    assert.equal(plain(bytes(2 ** 70)), "1,024 EiB");
  });

  it("writes shares whole from 10 %, with one decimal below, and says when they are tiny", () => {
    const cases = { 0: "0 %", 0.0004: "< 0.1 %", 0.047: "4.7 %", 0.0996: "10 %", 0.55: "55 %", 1: "100 %", 1.3: "130 %" };
    for (const [x, text] of Object.entries(cases)) assert.equal(plain(percent(Number(x))), text, x);
  });

  it("writes counts on an axis with three digits at the most", () => {
    const cases = { 0: "0", 1: "1", 950: "950", 5000: "5K", 200_000: "200K", 319_879: "320K", 1_500_000: "1.5M" };
    for (const [n, text] of Object.entries(cases)) assert.equal(shortCount(Number(n)), text, n);
    assert.equal(shortCount(null), "\u2014");
    setLocale("zh-CN");
    assert.equal(shortCount(200_000), "20万");
    setLocale("en");
  });

  it("writes ratios with one decimal below 100", () => {
    assert.equal(times(15.93), "15.9×");
    assert.equal(times(1), "1×");
    assert.equal(times(0.028), "0.03×");
    assert.equal(times(0.3), "0.3×");
    assert.equal(times(0), "0×");
    assert.equal(times(136.4), "136×");
  });

  it("groups the digits of counts and keeps fractions of resource amounts", () => {
    assert.equal(count(2_600_000), "2,600,000");
    assert.equal(count(0.25), "0.25");
  });

  it("shows times in the zone that it names", () => {
    assert.equal(time(1_795_984_346_000), "2026-11-29 20:32:26");
    assert.equal(time(1_795_984_346_000, false), "2026-11-29 20:32");
    assert.equal(zoneName(), "UTC");
    assert.equal(zoned(1_795_984_346_000), "2026-11-29 20:32:26 UTC");
    assert.equal(zoned(null), "\u2014");
  });

  it("signs offsets from the start", () => {
    assert.equal(plain(offset(62_100)), "+62.1 s");
    assert.equal(plain(offset(-10)), "\u221210 ms");
  });

  it("follows the unit that the server names", () => {
    assert.equal(plain(quantity(2836, "bytes")), "2.77 KiB");
    assert.equal(plain(quantity(2836, "ms")), "2.84 s");
    assert.equal(plain(quantity(2836, "count")), "2,836");
  });

  it("writes the digits that Intl writes, in both languages", () => {
    const values = [0, 0.04, 1, 12.5, 999, 1000, 1234.567, 999_999, 1e6, 12_345_678.25, 2 ** 53, 1e21];
    for (const lang of ["en", "zh-CN"]) {
      setLocale(lang);
      const intl = new Intl.NumberFormat(lang, { maximumFractionDigits: 2 });
      for (const v of values) assert.equal(plain(count(v)), v % 1 ? intl.format(v) : new Intl.NumberFormat(lang).format(v));
    }
    assert.equal(count(-1234), "\u22121,234");
    assert.equal(seconds(-2), "0.00\u202fs", "no sign before nothing");
  });
});
