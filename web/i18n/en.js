// SPDX-License-Identifier: Apache-2.0
/** English. Functions get numbers as numbers and put them into words themselves; arguments named `…Text` come formatted, those of `say.*` may be elements. */
import { bookOf } from "./book.js";
import { apps } from "./en/apps.js";
import { columns } from "./en/columns.js";
import { compare } from "./en/compare.js";
import { environment } from "./en/environment.js";
import { executors } from "./en/executors.js";
import { findings } from "./en/findings.js";
import { frame } from "./en/frame.js";
import { jobs } from "./en/jobs.js";
import { log } from "./en/log.js";
import { metrics } from "./en/metrics.js";
import { overview } from "./en/overview.js";
import { palette } from "./en/palette.js";
import { server } from "./en/server.js";
import { servers } from "./en/servers.js";
import { share } from "./en/share.js";
import { sql } from "./en/sql.js";
import { stage } from "./en/stage.js";
import { stages } from "./en/stages.js";
import { storage } from "./en/storage.js";
import { streaming } from "./en/streaming.js";
import { timeline } from "./en/timeline.js";
import { words } from "./en/words.js";

export const en = bookOf(
  apps,
  columns,
  compare,
  environment,
  executors,
  findings,
  frame,
  jobs,
  log,
  metrics,
  overview,
  palette,
  server,
  servers,
  share,
  sql,
  stage,
  stages,
  storage,
  streaming,
  timeline,
  words,
);
