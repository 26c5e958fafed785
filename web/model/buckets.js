// SPDX-License-Identifier: Apache-2.0
/** Buckets of the time account (analysis/account.h) in drawing order, with their colour token and whether anybody worked in them (idle ones are drawn hatched). */

/** @type {Record<string, { phase: string, idle?: true }>} */
export const BUCKETS = {
  cpu: { phase: "cpu" },
  run_unsplit: { phase: "cpu" },
  python: { phase: "python" },
  gc: { phase: "gc" },
  fetch: { phase: "fetch" },
  shwrite: { phase: "write" },
  spill_io: { phase: "io" },
  storage_io: { phase: "io" },
  other: { phase: "io" },
  deser: { phase: "deser" },
  ser: { phase: "result" },
  getres: { phase: "result" },
  delay: { phase: "sched" },
  nometrics: { phase: "sched" },
  lost: { phase: "lost", idle: true },
  others: { phase: "driver" },
  sched_wait: { phase: "sched", idle: true },
  few_tasks: { phase: "tail", idle: true },
  tail: { phase: "tail", idle: true },
  stage_gap: { phase: "tail", idle: true },
  gap_sql: { phase: "driver", idle: true },
  gap_stream: { phase: "driver", idle: true },
  gap_server: { phase: "driver", idle: true },
  gap_user: { phase: "driver", idle: true },
  gap_startup: { phase: "driver", idle: true },
  gap_shutdown: { phase: "driver", idle: true },
  startup: { phase: "absent", idle: true },
  wait_exec: { phase: "absent", idle: true },
  not_alloc: { phase: "absent", idle: true },
  idle: { phase: "absent", idle: true },
  unknown: { phase: "absent", idle: true },
};
const ORDER = Object.keys(BUCKETS);

/** Those with time in them, in drawing order; a bucket we do not know comes last. @param {import("../types").Bucket[]} buckets */
export const drawn = (buckets) =>
  buckets
    .filter((b) => b.slotMs > 0)
    .sort((a, b) => (ORDER.indexOf(a.bucket) + 1 || ORDER.length + 1) - (ORDER.indexOf(b.bucket) + 1 || ORDER.length + 1));

/** @param {string} bucket @returns {{ phase: string, idle: boolean }} */
export const look = (bucket) => ({ phase: BUCKETS[bucket]?.phase ?? "absent", idle: Boolean(BUCKETS[bucket]?.idle) });
