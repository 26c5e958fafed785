// SPDX-License-Identifier: Apache-2.0
/**
 * Key numbers in a strip; entries that are null are left out.
 * @param {{ items: ([label: string, value: import("preact").ComponentChildren, note?: import("preact").ComponentChildren, title?: string] | null)[] }} props
 */
export function Facts({ items }) {
  return (
    <dl class="facts">
      {items.map((f) =>
        f === null ? null : (
          <div key={f[0]} title={f[3]}>
            <dt>{f[0]}</dt>
            <dd>
              {f[1]}
              {f[2] ? <small>{f[2]}</small> : null}
            </dd>
          </div>
        ),
      )}
    </dl>
  );
}

/**
 * Heading of a section with a note and tools.
 * @param {{ title: string, note?: import("preact").ComponentChildren, tools?: import("preact").ComponentChildren, children: import("preact").ComponentChildren, id?:
 * string }} props
 */
export function Section({ title, note, tools, children, id }) {
  return (
    <section class="sec" id={id}>
      <div class="sec-head">
        <h2>{title}</h2>
        <span class="sec-note">{note}</span>
        {tools ? <span class="sec-tools no-print">{tools}</span> : null}
      </div>
      {children}
    </section>
  );
}
