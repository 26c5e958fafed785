// SPDX-License-Identifier: Apache-2.0
// Reads the small part of YAML that server/openapi.yaml keeps to: maps and lists by indentation, one-line (or bracket-continued) {…} and […], quoted or plain words.

/** Joins lines until brackets outside quotes are balanced; drops comments. */
function logicalLines(text) {
  const out = [];
  let open = 0;
  for (const raw of text.split("\n")) {
    if (/^\s*(#|$)/.test(raw)) continue;
    const bare = raw.replace(/"(\\.|[^"\\])*"/g, "");
    if (open > 0) out[out.length - 1].text += ` ${raw.trim()}`;
    else out.push({ indent: raw.search(/\S/), text: raw.trim() });
    open += (bare.match(/[[{]/g) ?? []).length - (bare.match(/[\]}]/g) ?? []).length;
  }
  return out;
}

const scalar = (word) => (word === "null" ? null : word === "true" ? true : word === "false" ? false : /^-?\d+(\.\d+)?$/.test(word) ? Number(word) : word);

/** A {…}, […], "…" or plain value. */
function flow(text) {
  let at = 0;
  const blanks = () => {
    while (text[at] === " ") at++;
  };
  const value = (ends) => {
    blanks();
    if (text[at] === '"') {
      const begin = at++;
      while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
      return JSON.parse(text.slice(begin, ++at));
    }
    if (text[at] === "[") {
      const out = [];
      for (at++, blanks(); text[at] !== "]"; blanks()) {
        out.push(value(",]"));
        blanks();
        if (text[at] === ",") at++;
      }
      at++;
      return out;
    }
    if (text[at] === "{") {
      const out = {};
      for (at++, blanks(); text[at] !== "}"; blanks()) {
        const key = value(":");
        at++;
        out[key] = value(",}");
        blanks();
        if (text[at] === ",") at++;
      }
      at++;
      return out;
    }
    const begin = at;
    while (at < text.length && !ends.includes(text[at])) at++;
    return scalar(text.slice(begin, at).trim());
  };
  return value("");
}

const KEY = /^("(?:\\.|[^"\\])*"|[^":{}[\]]+):(?: (.*))?$|^([^"\s][^\s]*):$/;

function block(lines, from, indent) {
  if (lines[from].text.startsWith("- ")) {
    const out = [];
    let at = from;
    for (; at < lines.length && lines[at].indent === indent; at++) out.push(flow(lines[at].text.slice(2)));
    return [out, at];
  }
  const out = {};
  let at = from;
  while (at < lines.length && lines[at].indent === indent) {
    const found = KEY.exec(lines[at].text);
    if (!found) throw new Error(`not in our part of YAML: ${lines[at].text}`);
    const word = found[1] ?? found[3];
    const key = word.startsWith('"') ? JSON.parse(word) : word;
    if (found[2]) {
      out[key] = flow(found[2]);
      at++;
    } else {
      [out[key], at] = block(lines, at + 1, lines[at + 1].indent);
    }
  }
  return [out, at];
}

export const parseYaml = (text) => {
  const lines = logicalLines(text);
  return block(lines, 0, lines[0].indent)[0];
};
