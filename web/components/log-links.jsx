// SPDX-License-Identifier: Apache-2.0
import * as paths from "../lib/paths.js";
import { Joined } from "./cells.jsx";

/** Where the logs of an executor or a process are: a link if a browser may open it, else the text of it. @param {{ logs: [string, string][] | null }} props */
export const LogLinks = ({ logs }) => (
  <Joined items={logs ?? []}>
    {([name, url]) => {
      const to = paths.outside(url);
      return to ? (
        <a href={to} target="_blank" rel="noopener noreferrer">
          {name}
        </a>
      ) : (
        <span title={url}>{name}</span>
      );
    }}
  </Joined>
);
