// SPDX-License-Identifier: Apache-2.0
import { zoneName } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";

const Logo = () => (
  <svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true">
    <path class="bar-sun" d="M2 13a7 7 0 0 1 14 0" fill="none" stroke-width="2" />
    <path class="bar-core" d="M5.2 13a3.8 3.8 0 0 1 7.6 0z" />
    <path d="M1 15.6h16" stroke="currentColor" stroke-width="1.6" />
  </svg>
);

/** @typedef {{ label: string, to?: string }} Crumb */

/**
 * Top bar: where we are, the search over everything, preferences.
 * @param {{ crumbs: Crumb[], search: () => void, prefs: import("../lib/prefs.js").Prefs, change: (p: Partial<import("../lib/prefs.js").Prefs>) => void, keys: () => void }} props
 */
export function TopBar({ crumbs, search, prefs, change, keys }) {
  const dark = prefs.theme === "dark";
  return (
    <header class={"bar" + (crumbs.length < 2 ? " is-wide" : "")}>
      <a class="bar-brand" href={paths.apps()} aria-label="Afterglow">
        <Logo />
        <span>Afterglow</span>
      </a>
      <nav class="bar-crumbs" aria-label={t("bar.breadcrumb")}>
        {crumbs.map((c, i) => (
          <>
            {i ? <i aria-hidden="true">/</i> : null}
            {i === crumbs.length - 1 || !c.to ? (
              <span aria-current={i === crumbs.length - 1 ? "page" : undefined} title={c.label}>
                {c.label}
              </span>
            ) : (
              <a href={c.to} title={c.label}>
                {c.label}
              </a>
            )}
          </>
        ))}
      </nav>
      <button type="button" class="bar-search" aria-label={t("bar.search")} aria-haspopup="dialog" aria-keyshortcuts="/ Control+K" onClick={search}>
        <svg width="13" height="13" viewBox="0 0 13 13" aria-hidden="true">
          <circle cx="5.5" cy="5.5" r="4" fill="none" stroke="currentColor" stroke-width="1.4" />
          <path d="m8.6 8.6 3.6 3.6" stroke="currentColor" stroke-width="1.4" />
        </svg>
        <span>{t("bar.search")}</span>
        <kbd aria-hidden="true">/</kbd>
      </button>
      <div class="bar-tools">
        <button
          type="button"
          class="btn is-plain"
          title={t("bar.zone")}
          aria-label={`${t("bar.zone")}: ${prefs.zone === "utc" ? "UTC" : t("bar.local", zoneName())}`}
          onClick={() => change({ zone: prefs.zone === "utc" ? "local" : "utc" })}
        >
          {prefs.zone === "utc" ? "UTC" : t("bar.local", zoneName())}
        </button>
        <button
          type="button"
          class="btn is-plain"
          title={t("bar.language")}
          lang={prefs.lang === "en" ? "zh-CN" : "en"}
          onClick={() => change({ lang: prefs.lang === "en" ? "zh-CN" : "en" })}
        >
          {prefs.lang === "en" ? "中文" : "English"}
        </button>
        <button
          type="button"
          class="btn is-plain"
          title={t("bar.theme")}
          aria-label={t("bar.theme")}
          aria-pressed={dark}
          onClick={() => change({ theme: dark ? "light" : "dark" })}
        >
          <svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">
            <circle cx="7" cy="7" r="5.5" fill="none" stroke="currentColor" stroke-width="1.4" />
            <path d={dark ? "M7 1.5a5.5 5.5 0 0 0 0 11z" : "M7 1.5a5.5 5.5 0 0 1 0 11z"} fill="currentColor" />
          </svg>
        </button>
        <button type="button" class="btn is-plain" title={t("keys.title")} aria-label={t("keys.title")} onClick={keys}>
          ?
        </button>
      </div>
    </header>
  );
}
