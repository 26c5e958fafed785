// SPDX-License-Identifier: Apache-2.0
import { t } from "../lib/i18n.js";

/** Whole sentences one after the other; those that do not apply are null. Chinese has no space between them. @param {{ items: import("preact").ComponentChildren[] }} props */
export const Sentences = ({ items }) => (
  <>
    {items
      .filter((x) => x !== null && x !== "")
      .map((x, i) => (
        <>
          {i ? t("say.gap") : ""}
          {x}
        </>
      ))}
  </>
);
