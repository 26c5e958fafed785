// SPDX-License-Identifier: Apache-2.0

/** @type {import("../../lib/i18n.js").Same<typeof import("../en/findings.js").findings>} */
export const findings = {
  "findings.title": "发现",
  "account.title": "时间账",
  "account.label": "时间账：全部 slot 的时间用在哪里",
};
