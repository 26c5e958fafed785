// SPDX-License-Identifier: Apache-2.0
/** 简体中文。Spark 自己的名词（Job、Stage、Task、Executor、Storage、Environment、SQL）保留英文。键与 en 相同，类型检查会发现缺失。 */
import { bookOf } from "./book.js";
import { apps } from "./zh/apps.js";
import { columns } from "./zh/columns.js";
import { compare } from "./zh/compare.js";
import { environment } from "./zh/environment.js";
import { executors } from "./zh/executors.js";
import { findings } from "./zh/findings.js";
import { frame } from "./zh/frame.js";
import { jobs } from "./zh/jobs.js";
import { log } from "./zh/log.js";
import { metrics } from "./zh/metrics.js";
import { overview } from "./zh/overview.js";
import { palette } from "./zh/palette.js";
import { server } from "./zh/server.js";
import { servers } from "./zh/servers.js";
import { share } from "./zh/share.js";
import { sql } from "./zh/sql.js";
import { stage } from "./zh/stage.js";
import { stages } from "./zh/stages.js";
import { storage } from "./zh/storage.js";
import { streaming } from "./zh/streaming.js";
import { timeline } from "./zh/timeline.js";
import { words } from "./zh/words.js";

export const zh = bookOf(
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
