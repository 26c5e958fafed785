// SPDX-License-Identifier: Apache-2.0
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";

/** Colours of the theme by token name, for drawing. @typedef {(token: string) => string} Ink */

/**
 * A canvas as wide as its place, sharp at any pixel ratio, drawn again when its width or the theme changes. Above a few hundred marks; below, SVG.
 * What it shows must also be text or a table on the page: `label` is a sentence.
 *
 * @param {{ class?: string, height: number, label: string, draw: (g: CanvasRenderingContext2D, width: number, height: number, ink: Ink) => void } &
 *   import("preact").CanvasHTMLAttributes<HTMLCanvasElement>} props draw: called with CSS pixels; make it anew (useCallback) only when what it draws changed
 */
export function Canvas({ class: c, height, label, draw, ...rest }) {
  const ref = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const paint = useRef(() => {});
  paint.current = () => {
    const el = ref.current;
    const width = el?.clientWidth ?? 0;
    const g = el?.getContext("2d");
    if (!el || !g || !width) return;
    const ratio = devicePixelRatio || 1;
    const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (el.width !== w || el.height !== h) [el.width, el.height] = [w, h];
    const style = getComputedStyle(document.documentElement);
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, width, height);
    g.font = `11px ${getComputedStyle(document.body).fontFamily}`;
    draw(g, width, height, (token) => style.getPropertyValue(token).trim());
  };
  useLayoutEffect(() => paint.current(), [draw, height]);
  useEffect(() => {
    const again = () => paint.current();
    const size = new ResizeObserver(again);
    if (ref.current) size.observe(ref.current);
    const theme = new MutationObserver(again);
    theme.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    return () => {
      size.disconnect();
      theme.disconnect();
    };
  }, []);
  return <canvas ref={ref} class={"canvas " + (c ?? "")} style={{ height: `${height}px` }} role="img" aria-label={label} {...rest} />;
}
