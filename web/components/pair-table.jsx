// SPDX-License-Identifier: Apache-2.0
import { DASH } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import { KeyName } from "./cells.jsx";
import { Table } from "./table.jsx";

/** @typedef {import("../lib/i18n.js").Key} Key */

/** Names and values as the log has them. @param {{ caption: string, pairs: [string, string | null][], heads: [Key, Key] }} props */
export const PairTable = ({ caption, pairs, heads }) => (
  <Table
    caption={caption}
    rows={pairs}
    rowKey={(p) => p[0]}
    class="pairs"
    columns={[
      { id: "name", label: t(heads[0]), class: "is-key", cell: (p) => <KeyName text={p[0]} /> },
      { id: "value", label: t(heads[1]), cell: (p) => (p[1] === null ? <span class="dim3">{DASH}</span> : <code class="value">{p[1]}</code>) },
    ]}
  />
);
