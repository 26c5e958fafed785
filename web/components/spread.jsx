// SPDX-License-Identifier: Apache-2.0
import { count } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import { spread } from "../model/streaming.js";

const BINS = 10,
  WIDTH = 104,
  HEIGHT = 28;

/** How often which values came: ten bars and the ends of their range. @param {{ name: string, values: (number | null)[], text: (value: number | null) => string }} props */
export function Spread({ name, values, text }) {
  const bins = spread(values, BINS);
  if (!bins.length) return null;
  const most = Math.max(...bins.map((b) => b.count));
  const [low, high] = [text(bins[0].from), text(bins[bins.length - 1].to)];
  const wide = WIDTH / bins.length;
  return (
    <span class="spread">
      <svg width={WIDTH} height={HEIGHT} role="img" aria-label={t("spread.label", name, bins.map((b) => `${text(b.from)}–${text(b.to)}: ${count(b.count)}`).join(", "))}>
        {bins.map((b, i) => (
          <rect key={i} class="hist-bar" x={i * wide} width={wide - 1} y={HEIGHT - (b.count / most) * HEIGHT} height={(b.count / most) * HEIGHT}>
            <title>{`${text(b.from)}–${text(b.to)}: ${count(b.count)}`}</title>
          </rect>
        ))}
      </svg>
      <span class="spread-ends" aria-hidden="true">
        <span>{low}</span>
        {low === high ? null : <span>{high}</span>}
      </span>
    </span>
  );
}
