// SPDX-License-Identifier: Apache-2.0
/** Findings and the time account, on whichever page. */

export const findings = {
  "findings.title": "Findings",
  "account.title": "Time account",
  "account.label": "Time account: where the time of all slots went",
};
