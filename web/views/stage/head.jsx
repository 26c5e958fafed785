// SPDX-License-Identifier: Apache-2.0
import { Joined } from "../../components/cells.jsx";
import { Facts, bytesFact, durationFact, shareFact } from "../../components/facts.jsx";
import { GcMark, SkewMark } from "../../components/marks.jsx";
import { ObjectHead } from "../../components/object-head.jsx";
import { Sentences } from "../../components/sentences.jsx";
import { count, duration, exactMs, percent, slotTime, times } from "../../lib/format.js";
import { t, tx, word } from "../../lib/i18n.js";
import * as paths from "../../lib/paths.js";
import { sticksOut, worst } from "../../model/findings.js";
import { findingOfStage } from "../../components/stage-columns.jsx";

/** @typedef {import("../../types").Stage} StageData */
/** @typedef {import("../../types").App} App */
/** @typedef {import("../../types").StageAnalysis | null} Analysis */

/** @param {{ app: App, stage: StageData }} props */
export function Head({ app, stage: s }) {
  const others = (s.attempts ?? []).filter((a) => a !== s.attempt);
  const title = (
    <>
      {t("stage.title", s.stageId)}
      {s.attempt || others.length ? <span class="dim"> {t("stage.attempt", s.attempt)}</span> : null}
      {s.onPathMs ? (
        <span class="chip is-after" title={t("stage.onPath.title")}>
          {t("stage.onPath", duration(s.onPathMs))}
        </span>
      ) : s.slackMs !== null ? (
        <span class="chip is-after" title={t("stage.slack.title")}>
          {t("stage.slack", duration(s.slackMs))}
        </span>
      ) : null}
    </>
  );
  return (
    <ObjectHead title={title} of={s} runStartMs={app.startMs} query={paths.sql(app.ref, s.sqlExecutionId ?? 0, { stage: `${s.stageId}.${s.attempt}` })}>
      {s.jobIds.length ? (
        <span>
          <Joined items={s.jobIds} most={8}>
            {(j) => <a href={paths.job(app.ref, j)}>{t("job.title", j)}</a>}
          </Joined>
        </span>
      ) : null}
      {s.parents?.length ? (
        <span>
          {t("stage.after")}{" "}
          <Joined items={s.parents} most={12}>
            {(p) => <a href={paths.stage(app.ref, p, 0)}>{p}</a>}
          </Joined>
        </span>
      ) : null}
      {others.length ? (
        <span>
          {t("stage.otherAttempts")} <Joined items={others}>{(a) => <a href={paths.stage(app.ref, s.stageId, a)}>{a}</a>}</Joined>
        </span>
      ) : null}
      {s.cachedRdds.length ? (
        <span>
          {t("stage.caches")}{" "}
          <Joined items={s.cachedRdds} most={6}>
            {(r) => <a href={paths.rdd(app.ref, r.id)}>{r.name ?? `RDD ${r.id}`}</a>}
          </Joined>
        </span>
      ) : null}
    </ObjectHead>
  );
}

/** The server's verdict, and below it how long it took and what its tasks are like. @param {{ app: App, stage: StageData, analysis: Analysis, findings: import("../../types").Findings | null, isJudged: boolean }} props */
export function StageVerdict({ app, stage: s, analysis, findings, isJudged }) {
  const level = s.status === "failed" ? 4 : findings ? worst(findings.findings).level : undefined;
  const verdict = findings?.verdict;
  return (
    <div class="verdict" data-sev={level}>
      <p class="verdict-say">{verdict || <Sentence stage={s} app={app} />}</p>
      <p class="verdict-sub">
        <Sentences
          items={[
            verdict ? <Sentence stage={s} app={app} /> : null,
            analysis?.verdictName ? t(analysis.causeName ? "stage.judgedCause" : "stage.judged", analysis.verdictName, analysis.causeName, percent(analysis.causeShare)) : null,
            isJudged ? null : t("stage.judgedLater"),
          ]}
        />
      </p>
    </div>
  );
}

/** @param {{ app: App, stage: StageData }} props */
function Sentence({ stage: s, app }) {
  const wall = <b title={exactMs(s.durationMs)}>{duration(s.durationMs)}</b>;
  const of = s.durationMs !== null && app.durationMs ? percent(s.durationMs / app.durationMs) : null;
  return (
    <Sentences
      items={[
        s.status === "failed"
          ? tx("say.stageFailed", wall)
          : s.durationMs === null
            ? tx("say.stageOpen", s.endedTasks ?? 0, count(s.numTasks))
            : tx("say.stageRan", wall, of, s.numTasks ?? 0),
        sticksOut(s.skew?.height) ? tx("say.stageSkew", <b>{duration(s.maxMs)}</b>, <b>{times(s.skew.durationRatio)}</b>, duration(s.medianMs)) : null,
        s.skew && (sticksOut(s.skew.height) || sticksOut(s.skew.bytesHeight)) && s.skew.bytesRatio !== null && s.skew.bytes
          ? t("say.stageSkewBytes", times(s.skew.bytesRatio), t(s.skew.bytes === "input" ? "say.input" : "say.shuffle"))
          : null,
        s.gc && sticksOut(s.gc.height) ? tx("say.stageGc", <b>{percent(s.gc.share)}</b>) : null,
      ]}
    />
  );
}

/** @param {{ app: App, stage: StageData, analysis: Analysis }} props */
export function Numbers({ app, stage: s, analysis: a }) {
  const l = s.locality;
  const kinds = l
    ? /** @type {const} */ ([
        ["process", l.process],
        ["node", l.node],
        ["rack", l.rack],
        ["any", l.any],
        ["none", l.none],
      ]).filter((x) => x[1])
    : [];
  const idle = a && s.durationMs && s.taskTimeMs !== null ? 1 - s.taskTimeMs / (a.slots * s.durationMs) : null;
  return (
    <Facts
      items={[
        shareFact(s.durationMs, app.durationMs),
        a && s.taskTimeMs !== null ? [t("fact.ideal"), duration(s.taskTimeMs / a.slots), t("fact.idealNote"), exactMs(s.taskTimeMs / a.slots)] : null,
        a?.baseMs ? [t("fact.base"), duration(a.baseMs), null, t("fact.baseTitle")] : null,
        [t("col.tasks"), count(s.completeTasks), s.completeTasks === s.numTasks ? (a ? t("fact.onSlots", a.slots) : null) : t("fact.ofAll", count(s.numTasks))],
        s.failedTasks ? [t("col.failedTasks"), <span class="bad">{count(s.failedTasks)}</span>] : null,
        s.killedTasks ? [t("col.killedTasks"), count(s.killedTasks)] : null,
        [t("col.taskTime"), slotTime(s.taskTimeMs), null, exactMs(s.taskTimeMs)],
        idle === null ? null : [t("fact.idle"), percent(Math.max(0, idle))],
        durationFact("fact.runTime", s.runTimeMs),
        s.taskTimeMs && s.cpuTimeNs !== null ? [t("fact.cpu"), percent(s.cpuTimeNs / 1e6 / s.taskTimeMs), t("fact.ofTaskTime")] : null,
        [t("col.ratio"), <SkewMark skew={s.skew} to={(rule) => findingOfStage(app.ref, s, rule)} />],
        [t("col.gc"), <GcMark gc={s.gc} to={(rule) => findingOfStage(app.ref, s, rule)} />],
        bytesFact("col.input", s.inputBytes, s.inputRecords),
        bytesFact("col.output", s.outputBytes, s.outputRecords),
        bytesFact("col.shuffleRead", s.shuffleReadBytes, s.shuffleReadRecords),
        bytesFact("col.shuffleWrite", s.shuffleWriteBytes, s.shuffleWriteRecords),
        bytesFact("fact.spillMemory", s.memorySpilledBytes),
        bytesFact("fact.spillDisk", s.diskSpilledBytes),
        s.speculation?.tasks
          ? [
              t("fact.speculative"),
              count(s.speculation.tasks),
              <Joined items={/** @type {const} */ (["completed", "failed", "killed", "active"]).filter((k) => s.speculation?.[k])}>
                {(k) => t(`fact.speculative.${k}`, s.speculation?.[k] ?? 0)}
              </Joined>,
            ]
          : null,
        kinds.length
          ? [
              t("fact.locality"),
              <Joined items={kinds}>
                {([k, n]) => (
                  <>
                    {count(n)}
                    <small>{word("locality", k)}</small>
                  </>
                )}
              </Joined>,
            ]
          : null,
        s.pool && s.pool !== "default" ? [t("fact.pool"), <a href={paths.page(app.ref, "stages", { pool: s.pool })}>{s.pool}</a>] : null,
        s.resourceProfileId ? [t("fact.resourceProfile"), <a href={paths.page(app.ref, "env")}>{count(s.resourceProfileId)}</a>] : null,
      ]}
    />
  );
}
