/* SPDX-License-Identifier: Apache-2.0
 *
 * How streaming queries kept up (spec/findings.md 10.5), a row for each run: out of its progress records, which are read in order, once. A batch is a record with input rows or a
 * changed state. The trigger interval is in no event: it is the usual time from start to start of batches that waited for their time; a query whose batches follow one another without
 * a pause has none that could be seen, and whether that is by design or because it is late shows in its growing batches alone. NaN and UNKNOWN: the log does not say. One thread. */
#ifndef ANALYSIS_STREAM_HEALTH_H
#define ANALYSIS_STREAM_HEALTH_H

#include "analysis/facts.h"

enum stream_verdict { STREAM_FAILED, STREAM_BEHIND, STREAM_STATE, STREAM_WATERMARK, STREAM_OVERHEAD, STREAM_KEEPS_UP, STREAM_IDLE /* no batch */, STREAM_VERDICT_COUNT };
extern const char *const stream_verdict_names[STREAM_VERDICT_COUNT];

struct stream_row {
    int64_t run_ref;
    struct str run_id, name; /* owned by the health */
    bool ended, failed;
    struct str error; /* first line of it */
    int64_t last_batch_id;
    size_t batch_count;                      /* batches as said above */
    size_t row_batch_count;                  /* of them, with input rows */
    double interval_ms;                      /* NaN: fewer than two batches */
    bool back_to_back;                       /* no pause between batches: interval_ms is how long they take */
    bool growing;                            /* … and each has more rows or takes longer than those before */
    double duration_ms, recent_ms;           /* medians: of all batches, of the last 20 */
    double behind;                           /* recent_ms ÷ interval_ms */
    double delay_ms;                         /* median start behind its time */
    double rows, input_rate, processed_rate; /* medians over batches with rows; rates in rows a second */
    double rate_ratio;
    double overhead;                             /* median of 1 − addBatch ÷ triggerExecution */
    const char *overhead_phase;                  /* the largest other phase, static; NULL */
    double overhead_phase_share;                 /* of triggerExecution */
    double state_first, state_rows, state_bytes; /* of the first and last batch with a state */
    double state_growth;                         /* slope over the second half × batches ÷ last rows */
    double watermark_lag_ms;                     /* p95 of trigger time − watermark */
    double watermark_delay_ms;                   /* how far the watermark is behind the latest event time by design */
    double watermark_ratio;
    double input_rows, dropped_rows, dropped_share;
    double offsets_behind, offsets_ratio; /* most over the last 10 batches; ÷ rows a batch */
    int period;                           /* every so many batches one is slow; 0: no such thing */
    enum stream_verdict verdict;
};

struct stream_health {
    struct arena arena;
    struct stream_row *rows; /* by run_ref; owned */
    size_t count;
};

enum err_code stream_health_make(struct stream_health *ret, const struct facts *facts, struct err *err) WARN_UNUSED;
void stream_health_dispose(struct stream_health *self);
/* Into table stream_health. */
enum err_code stream_health_store(const struct stream_health *self, struct db *db, struct err *err) WARN_UNUSED;

#endif
