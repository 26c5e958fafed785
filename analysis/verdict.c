/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/verdict.h"

#include <math.h>
#include <string.h>

#include "analysis/error_text.h"
#include "base/attributes.h"

#define COMPLETE_ENOUGH 80   /* below it numbers are lower bounds (2.3) */
#define WAITING_SHARE 0.5    /* of the wall time: waiting is what the run did most (8.3) */
#define MUCH_SHARE 0.1       /* a run that could be shorter by so much is not called healthy, however small the fault */
#define ALSO_NAMED 3         /* further causes that are named; the others are counted */
#define JUDGED_FROM_MS 10000 /* shorter runs are not judged (1.6 tiny_app) */

const char *const empty_page_names[EMPTY_PAGE_COUNT] = {"storage", "sql", "streaming", "executors", "jobs"};

static struct word_arg number(const char *name, double value, const char *unit)
{
    return (struct word_arg){.name = str_of(name), .unit = str_of(unit), .value = value};
}

static struct word_arg text(const char *name, struct str value)
{
    return (struct word_arg){.name = str_of(name), .text = value, .value = (double)NAN};
}

static double ms(int64_t value)
{
    return known(value) ? (double)value : (double)NAN;
}

static void say(struct buf *out, enum lang lang, const char *what, const struct word_arg *args, size_t count)
{
    if (out->len && lang == LANG_EN)
        buf_char(out, ' ');
    word_fill(out, message_of(lang, "verdict", what), args, count);
}

static enum err_code say_finding(struct report *report, enum lang lang, size_t position, struct buf *out, struct err *err)
{
    struct word_arg args[REPORT_ARGS];
    size_t count;
    const struct finding *finding = &report->findings[position].finding;
    enum err_code rc = report_args(report, lang, finding, args, &count, err);
    if (rc)
        return rc;
    if (out->len && lang == LANG_EN)
        buf_char(out, ' ');
    report_sentence(out, lang, finding, args, count);
    return ERR_OK;
}

/* ---- the finding that a verdict is about, and those beside it */

/* How near a finding is to what is wrong; within one kind their order decides. What costs next to nothing, or is a mere setting, is no cause of a slow run while there is another;
 * what is a symptom is named where nothing else is, and what is usual, about which nothing need be done, last of all. */
enum telling { TELLS_CAUSE, TELLS_SETTING, TELLS_SYMPTOM, TELLS_USUAL, TELLS_NOTHING };

static enum telling telling_of(const struct report_finding *f)
{
    bool is_setting = strcmp(f->finding.rule->question, "config") == 0, is_priced = known(f->finding.price.ms);
    if (!f->is_shown || finding_is_no_fault(&f->finding))
        return TELLS_NOTHING;
    if (finding_is_symptom(&f->finding))
        return f->grade < GRADE_LOW ? TELLS_NOTHING : finding_is_usual(&f->finding) ? TELLS_USUAL : TELLS_SYMPTOM;
    if (f->grade >= GRADE_MODERATE || (!is_setting && (f->grade >= GRADE_LOW || is_priced)))
        return TELLS_CAUSE;
    return f->grade >= GRADE_LOW ? TELLS_SETTING : TELLS_NOTHING;
}

/* Its position; finding_count: none is worth a sentence. `findings` NULL: among all. Of several that tell of one failure it is the one that says most. */
static size_t leading(const struct report *report, const size_t *findings, size_t count)
{
    size_t best = report->finding_count;
    enum telling nearest = TELLS_NOTHING;
    for (size_t i = 0; i < (findings ? count : report->shown_count); i++) {
        size_t at = findings ? findings[i] : i;
        if (telling_of(&report->findings[at]) < nearest) {
            best = at;
            nearest = telling_of(&report->findings[at]);
        }
    }
    return findings || best == report->finding_count ? best : report->findings[best].same_as;
}

static bool is_about_failure(const struct report_finding *f)
{
    return strcmp(f->finding.rule->question, "failure") == 0;
}

static bool is_incomplete_log(const struct report_finding *f)
{
    return strcmp(f->finding.rule->id, "LOG.INCOMPLETE") == 0;
}

static bool is_regression(const struct report_finding *f)
{
    return strcmp(f->finding.rule->id, "RUN.REGRESSION") == 0;
}

/* A regression has a sentence of its own, and what tells of a failure once more none. */
static bool is_named_beside(const struct report *report, const struct report_finding *f)
{
    return !is_regression(f) && f->same_as == (size_t)(f - report->findings) && telling_of(f) < TELLS_USUAL && (telling_of(f) == TELLS_CAUSE || f->grade >= GRADE_MODERATE);
}

/* A rule is named once in a verdict, with the first of its subjects. Positions in the table of rules. */
struct named {
    bool rules[128];
};
_Static_assert(ARRAY_LENGTH(((struct named *)NULL)->rules) >= 100, "as many as there are rules");

static bool name_once(struct named *self, const struct finding *finding)
{
    bool *is_named = &self->rules[(size_t)(finding->rule - rules) % ARRAY_LENGTH(self->rules)], first = !*is_named;
    *is_named = true;
    return first;
}

/* "Rule (where), rule": one more name; the caller counts those beyond ALSO_NAMED. */
static void add_name(struct buf *names, enum lang lang, const struct finding *finding)
{
    CLEANUP(buf_dispose) struct buf where;
    buf_init(&where, 4096);
    report_subject(&where, lang, str_of(subject_kind_names[finding->subject_kind]), finding->subject_key);
    const struct word_arg args[] = {text("rule", str_of(report_rule_name(lang, finding))), text("where", buf_str(&where))};
    if (names->len)
        buf_text(names, lang == LANG_ZH_CN ? "、" : ", ");
    word_fill(names, message_of(lang, "verdict", finding->subject_kind == SUBJECT_APP ? "also_rule" : "also_rule_where"), args, ARRAY_LENGTH(args));
}

/* The other causes, by name and place: what was done wrong is not always what cost most. */
static void say_also(const struct report *report, enum lang lang, struct named *named, struct buf *out)
{
    CLEANUP(buf_dispose) struct buf names;
    size_t count = 0;
    buf_init(&names, 4096);
    for (size_t i = 0; i < report->shown_count; i++) {
        const struct finding *finding = &report->findings[i].finding;
        if (is_named_beside(report, &report->findings[i]) && name_once(named, finding) && count++ < ALSO_NAMED)
            add_name(&names, lang, finding);
    }
    const struct word_arg args[] = {text("names", buf_str(&names)), number("k", (double)count - ALSO_NAMED, "count")};
    if (count)
        say(out, lang, count > ALSO_NAMED ? "also_named_more" : "also_named", args, ARRAY_LENGTH(args));
}

static enum err_code say_lead(struct report *report, enum lang lang, size_t lead, struct buf *out, struct err *err)
{
    struct named named = {{false}};
    enum err_code rc = say_finding(report, lang, lead, out, err);
    name_once(&named, &report->findings[lead].finding);
    say_also(report, lang, &named, out);
    return rc;
}

bool verdict_may_be_closest(const struct report_finding *f)
{
    return !f->is_shown && f->finding.mute == MUTE_NONE && !str_known(f->finding.suppressed_by) && f->margin > 0 && f->margin < 1 && !is_incomplete_log(f);
}

size_t verdict_closest(const struct report *report, const size_t *findings, size_t count)
{
    size_t best = report->finding_count;
    for (size_t i = 0; i < (findings ? count : report->finding_count); i++) {
        size_t at = findings ? findings[i] : i;
        const struct report_finding *f = &report->findings[at];
        if (!verdict_may_be_closest(f))
            continue;
        if (best == report->finding_count || f->margin > report->findings[best].margin)
            best = at;
    }
    return best;
}

/* `nothing` or `nothing_closest`: what is said without and with such a rule. */
static void say_closest(const struct report *report, enum lang lang, size_t closest, const char *nothing, const char *nothing_closest, struct buf *out)
{
    if (closest == report->finding_count) {
        say(out, lang, nothing, NULL, 0);
        return;
    }
    const struct report_finding *f = &report->findings[closest];
    const struct word_arg args[] = {text("rule", str_of(report_rule_name(lang, &f->finding))), number("margin", f->margin, "share")};
    say(out, lang, nothing_closest, args, ARRAY_LENGTH(args));
}

enum err_code verdict_page(struct report *report, enum lang lang, const size_t *findings, size_t count, struct buf *out, struct err *err)
{
    size_t shown = 0, first = report->finding_count, lead = leading(report, findings, count);
    for (size_t i = 0; i < count; i++)
        if (report->findings[findings[i]].is_shown && shown++ == 0)
            first = findings[i];
    if (shown == 0) {
        say_closest(report, lang, verdict_closest(report, findings, count), "nothing", "nothing_closest", out);
        return ERR_OK;
    }
    enum err_code rc = say_finding(report, lang, lead < report->finding_count ? lead : first, out, err);
    const struct word_arg more = number("k", (double)(shown - 1), "count");
    if (!rc && shown > 1)
        say(out, lang, "also", &more, 1);
    return rc;
}

/* ---- the application */

static bool is_wait(enum bucket bucket)
{
    return bucket == BUCKET_STARTUP || bucket == BUCKET_WAIT_EXEC || (bucket >= BUCKET_GAP_SQL && bucket <= BUCKET_GAP_USER);
}

/* Wall time of waiting for anything but tasks; *ret_largest is its largest part. */
static int64_t waiting_ms(const struct report *report, enum bucket *ret_largest)
{
    int64_t sum = 0, largest = -1;
    for (int i = 0; i < BUCKET_COUNT; i++) {
        int64_t wall = known_or(report->account[i].wall_ms, 0);
        if (!report->account[i].is_there || !is_wait((enum bucket)i))
            continue;
        sum += wall;
        if (wall > largest) {
            largest = wall;
            *ret_largest = (enum bucket)i;
        }
    }
    return sum;
}

static bool is_most(const struct report *report, int64_t part_ms)
{
    return report->wall_ms > 0 && (double)part_ms >= WAITING_SHARE * (double)report->wall_ms;
}

/* Until the first job. */
static int64_t starting_ms(const struct report *report)
{
    return known_or(report->account[BUCKET_STARTUP].wall_ms, 0) + known_or(report->account[BUCKET_GAP_STARTUP].wall_ms, 0);
}

/* The wait is most of the run only because that is short: it took no longer to start than runs do (APP.START_WAIT has nothing to say), and waited little behind that. A shell waits for people
 * whatever it does, and a run without a job has nothing else to tell. */
static bool is_usual_start(const struct report *report, int64_t waited_ms)
{
    return !report->app.is_shell && report->app.job_count > 0 && !is_most(report, waited_ms - starting_ms(report)) &&
           (double)starting_ms(report) < 1000 * rule_find(STR_LIT("APP.START_WAIT"))->ladder.step[0];
}

/* Each by the name under which the account has it. */
static void say_usual_start(const struct report *report, enum lang lang, struct buf *out)
{
    static const enum bucket parts[] = {BUCKET_STARTUP, BUCKET_GAP_STARTUP};
    CLEANUP(buf_dispose) struct buf names;
    buf_init(&names, 4096);
    for (size_t i = 0; i < ARRAY_LENGTH(parts); i++) {
        const struct word_arg args[] = {text("bucket", str_of(message(lang, "buckets", str_of(bucket_names[parts[i]]), "name"))),
                                        number("bucket_time", ms(report->account[parts[i]].wall_ms), "ms")};
        if (known_or(report->account[parts[i]].wall_ms, 0) <= 0)
            continue;
        if (names.len)
            buf_text(&names, lang == LANG_ZH_CN ? "、" : ", ");
        word_fill(&names, message_of(lang, "verdict", "usual_start_part"), args, ARRAY_LENGTH(args));
    }
    const struct word_arg args[] = {text("parts", buf_str(&names)), number("wall", ms(report->wall_ms), "ms")};
    say(out, lang, "usual_start", args, ARRAY_LENGTH(args));
}

static void say_waiting(const struct report *report, enum lang lang, int64_t waited_ms, enum bucket largest, struct buf *out)
{
    const char *name = message(lang, "buckets", str_of(bucket_names[largest]), "name");
    const struct word_arg args[] = {number("pct", (double)waited_ms / (double)report->wall_ms, "share"), number("wall", ms(report->wall_ms), "ms"),
                                    text("bucket", str_of(name ? name : bucket_names[largest])), number("bucket_time", ms(report->account[largest].wall_ms), "ms")};
    say(out, lang, "waiting", args, ARRAY_LENGTH(args));
    if (report->app.job_count == 0)
        say(out, lang, "no_job", NULL, 0);
    else if (report->app.is_shell)
        say(out, lang, "waiting_shell", NULL, 0);
}

static void say_failed(const struct report *report, enum lang lang, struct buf *out)
{
    char why[ERROR_SUMMARY_BYTES], origin[ERROR_ORIGIN_BYTES];
    error_summary(report->app.failure, why);
    error_origin(report->app.failure, origin);
    const struct word_arg args[] = {number("wall", ms(report->wall_ms), "ms"), text("failure", str_of(why)), text("origin", str_of(origin))};
    say(out, lang, !why[0] ? "failed_unknown" : origin[0] ? "failed_at" : "failed", args, ARRAY_LENGTH(args));
}

int64_t verdict_saving_ms(const struct report *report)
{
    int64_t joint_ms = report->joint_count ? report->joint[report->joint_count - 1].saving_ms : UNKNOWN;
    size_t lead = verdict_lead(report);
    bool any = false;
    for (size_t i = 0; i < report->shown_count; i++)
        any |= (report->findings[i].grade >= GRADE_LOW || i == lead) && !finding_is_usual(&report->findings[i].finding) &&
               price_grade(report->findings[i].finding.price.ms, report->wall_ms) > GRADE_OK;
    return any && !report->app.failed && price_grade(joint_ms, report->wall_ms) > GRADE_OK ? joint_ms : UNKNOWN;
}

/* As many as would save that together are named. The lead itself may save nothing, or have no price: what does is named. */
static void say_saving(const struct report *report, enum lang lang, size_t lead, struct named *named, struct buf *out)
{
    CLEANUP(buf_dispose) struct buf names;
    const struct rule *rule = report->findings[lead].finding.rule;
    size_t places = 0, others = 0;
    bool is_lead_priced = false;
    buf_init(&names, 4096);
    if (price_grade(verdict_saving_ms(report), report->wall_ms) == GRADE_OK)
        return;
    for (size_t i = 0; i < report->joint_count; i++)
        is_lead_priced |= report->joint[i].finding == lead;
    for (size_t i = 0; i < report->joint_count; i++) {
        const struct finding *finding = &report->findings[report->joint[i].finding].finding;
        places += finding->rule == rule;
        if ((finding->rule != rule || !is_lead_priced) && name_once(named, finding) && others++ < ALSO_NAMED)
            add_name(&names, lang, finding);
    }
    const struct word_arg args[] = {number("k", (double)places, "count"), number("saving", ms(verdict_saving_ms(report)), "ms"), number("wall", ms(report->wall_ms), "ms"),
                                    text("names", buf_str(&names)), number("more", (double)others - ALSO_NAMED, "count")};
    const char *what = !is_lead_priced       ? others > ALSO_NAMED ? "fix_apart_more" : "fix_apart"
                       : others > ALSO_NAMED ? "fix_more"
                       : others              ? "fix"
                       : places > 1          ? "fix_places"
                                             : "fix_one";
    say(out, lang, what, args, ARRAY_LENGTH(args));
}

/* Of what something could be done about. */
static enum grade worst_grade(const struct report *report)
{
    enum grade worst = GRADE_OK;
    for (size_t i = 0; i < report->shown_count; i++)
        if (!finding_is_usual(&report->findings[i].finding))
            worst = MAX(worst, report->findings[i].grade);
    return worst;
}

/* No grave fault: what all would save, and what of that the lead would; where the lead has no price, what could be saved beside it follows. */
static enum err_code say_small_fault(struct report *report, enum lang lang, size_t lead, struct buf *out, struct err *err)
{
    struct named named = {{false}};
    int64_t price_ms = report->findings[lead].finding.price.ms, joint_ms = max_known(price_ms, verdict_saving_ms(report));
    bool is_much = known(price_ms) && (double)joint_ms >= MUCH_SHARE * (double)report->wall_ms, is_part = known(price_ms) && price_ms < joint_ms;
    const struct word_arg args[] = {number("saving", ms(joint_ms), "ms"), number("first", ms(price_ms), "ms"), number("wall", ms(report->wall_ms), "ms")};
    const char *what = !known(price_ms) ? "healthy_note" : is_much ? is_part ? "not_grave_first" : "not_grave" : is_part ? "healthy_small_first" : "healthy_small";
    say(out, lang, what, args, ARRAY_LENGTH(args));
    name_once(&named, &report->findings[lead].finding);
    enum err_code rc = say_finding(report, lang, lead, out, err);
    if (!known(price_ms))
        say_saving(report, lang, lead, &named, out);
    say_also(report, lang, &named, out);
    return rc;
}

/* What the notes below say could be saved is little, and no other word: "nothing" would contradict them. False: they say of nothing. */
static bool say_little(const struct report *report, enum lang lang, struct buf *out)
{
    CLEANUP(buf_dispose) struct buf names;
    struct named named = {{false}};
    size_t count = 0;
    int64_t joint_ms = report->joint_count ? report->joint[report->joint_count - 1].saving_ms : UNKNOWN;
    buf_init(&names, 4096);
    for (size_t i = 0; i < report->joint_count; i++) {
        const struct finding *finding = &report->findings[report->joint[i].finding].finding;
        if (price_grade(finding->price.ms, report->wall_ms) > GRADE_OK && name_once(&named, finding) && count++ < ALSO_NAMED)
            add_name(&names, lang, finding);
    }
    const struct word_arg args[] = {number("saving", ms(joint_ms), "ms"), number("wall", ms(report->wall_ms), "ms"), text("names", buf_str(&names)),
                                    number("more", (double)count - ALSO_NAMED, "count")};
    if (count)
        say(out, lang, count > ALSO_NAMED ? "healthy_little_more" : "healthy_little", args, ARRAY_LENGTH(args));
    return count > 0;
}

static enum err_code say_healthy(struct report *report, enum lang lang, struct buf *out, struct err *err)
{
    const struct word_arg wall = number("wall", ms(report->wall_ms), "ms");
    size_t usual = leading(report, NULL, 0);
    if (say_little(report, lang, out))
        return ERR_OK;
    say(out, lang, report->end_at_least ? "healthy_so_far" : "healthy", &wall, 1); /* after "the run was killed" nothing is healthy */
    if (usual < report->finding_count && telling_of(&report->findings[usual]) == TELLS_USUAL)
        return say_finding(report, lang, usual, out, err);
    size_t closest = verdict_closest(report, NULL, 0);
    if (closest < report->finding_count) {
        const struct word_arg args[] = {text("rule", str_of(report_rule_name(lang, &report->findings[closest].finding))),
                                        number("margin", report->findings[closest].margin, "share")};
        say(out, lang, "closest", args, ARRAY_LENGTH(args));
    }
    return ERR_OK;
}

/* What is missing has been said then: the first finding about anything else follows. */
static size_t beside_incomplete(const struct report *report)
{
    for (size_t i = 0; i < report->shown_count; i++)
        if (telling_of(&report->findings[i]) == TELLS_CAUSE && !is_incomplete_log(&report->findings[i]))
            return i;
    return report->finding_count;
}

static enum err_code say_incomplete(struct report *report, enum lang lang, struct buf *out, struct err *err)
{
    CLEANUP(buf_dispose) struct buf missing;
    buf_init(&missing, 4096);
    enum err_code rc = report_missing(report, lang, &missing, err);
    const struct word_arg args[] = {number("c", (double)report->completeness, "count"), text("missing", buf_str(&missing))};
    say(out, lang, "incomplete", args, ARRAY_LENGTH(args));
    size_t lead = beside_incomplete(report);
    if (rc || lead == report->finding_count)
        return rc;
    say(out, lang, "lower_bound", NULL, 0);
    return say_finding(report, lang, lead, out, err);
}

/* Unless it was said. */
static enum err_code say_regression(struct report *report, enum lang lang, size_t lead, struct buf *out, struct err *err)
{
    for (size_t i = 0; i < report->shown_count; i++)
        if (i != lead && is_regression(&report->findings[i]))
            return say_finding(report, lang, i, out, err);
    return ERR_OK;
}

/* Of all that is listed together, however small each fault is. */
static bool could_save_much(const struct report *report)
{
    return report->joint_count && (double)report->joint[report->joint_count - 1].saving_ms >= MUCH_SHARE * (double)report->wall_ms;
}

bool verdict_is_too_short(const struct report *report)
{
    return report->wall_ms < JUDGED_FROM_MS && worst_grade(report) < GRADE_MODERATE;
}

/* Or that something failed of it: memory ran out, and a query ended. */
static bool is_failure(const struct report *report, size_t position)
{
    for (size_t i = 0; i < report->shown_count; i++)
        if (report->findings[i].same_as == position && is_about_failure(&report->findings[i]))
            return true;
    return false;
}

/* Waiting is told where it was most of the run, unless something failed. */
static bool tells_waiting(const struct report *report, size_t lead, int64_t waited_ms)
{
    bool begins_with_failure = lead < report->finding_count && worst_grade(report) >= GRADE_MODERATE && is_failure(report, lead);
    return is_most(report, waited_ms) && !begins_with_failure;
}

size_t verdict_lead(const struct report *report)
{
    enum bucket largest = BUCKET_STARTUP;
    int64_t waited_ms = waiting_ms(report, &largest);
    size_t lead = leading(report, NULL, 0);
    if (report->app.failed)
        return report->finding_count;
    if (report->completeness < COMPLETE_ENOUGH)
        return beside_incomplete(report);
    if (verdict_is_too_short(report) || lead == report->finding_count || telling_of(&report->findings[lead]) >= TELLS_USUAL)
        return report->finding_count;
    bool begins_with_waiting = tells_waiting(report, lead, waited_ms) && !is_usual_start(report, waited_ms);
    return worst_grade(report) >= GRADE_LOW || begins_with_waiting || could_save_much(report) ? lead : report->finding_count;
}

static size_t first_shown(const struct report *report, bool (*is_wanted)(const struct report_finding *))
{
    size_t at = 0;
    while (at < report->shown_count && !is_wanted(&report->findings[at]))
        at++;
    return at < report->shown_count ? report->findings[at].same_as : report->finding_count;
}

bool verdict_waited_for_people(const struct report *report)
{
    enum bucket largest = BUCKET_STARTUP;
    return report->app.is_shell && is_most(report, waiting_ms(report, &largest));
}

size_t verdict_first_step(const struct report *report)
{
    if (report->app.failed)
        return first_shown(report, is_about_failure);
    size_t lead = verdict_lead(report), incomplete = first_shown(report, is_incomplete_log);
    /* Why a run was killed comes before what made it slow. */
    if (report->app.is_abandoned && incomplete < report->finding_count)
        return incomplete;
    if (lead < report->finding_count && verdict_waited_for_people(report) && report->findings[lead].grade < GRADE_LOW)
        return report->finding_count;
    bool is_whole = report->completeness >= COMPLETE_ENOUGH && !report->end_at_least;
    return lead == report->finding_count && !is_whole ? incomplete : lead;
}

enum err_code verdict_app(struct report *report, enum lang lang, struct buf *out, struct err *err)
{
    enum bucket largest = BUCKET_STARTUP;
    int64_t waited_ms = waiting_ms(report, &largest);
    size_t lead = verdict_lead(report);
    bool has_lead = lead < report->finding_count, is_worth_it = worst_grade(report) >= GRADE_MODERATE;
    bool tells_wait = tells_waiting(report, lead, waited_ms), is_usual = is_usual_start(report, waited_ms);
    enum err_code rc = ERR_OK;
    if (report->app.failed) {
        say_failed(report, lang, out);
        return say_regression(report, lang, report->finding_count, out, err);
    }
    if (report->completeness < COMPLETE_ENOUGH)
        return say_incomplete(report, lang, out, err);
    if (verdict_is_too_short(report)) {
        const struct word_arg wall = number("wall", ms(report->wall_ms), "ms");
        say(out, lang, "not_judged", &wall, 1);
        return ERR_OK;
    }
    if (report->app.is_server && report->app.complete && report->app.failed_job_count > 0) {
        const struct word_arg args[] = {number("n", (double)report->app.failed_job_count, "count"), number("all", (double)report->app.job_count, "count")};
        say(out, lang, "server_failed", args, ARRAY_LENGTH(args));
    }
    if (report->end_at_least) {
        const struct word_arg args[] = {number("wall", ms(report->wall_ms), "ms"), number("t", ms(report->end_ms), "time")};
        say(out, lang, report->app.is_abandoned ? "abandoned" : "at_least", args, ARRAY_LENGTH(args));
    }
    if (tells_wait && !is_usual) {
        say_waiting(report, lang, waited_ms, largest, out);
        if (has_lead)
            rc = say_lead(report, lang, lead, out, err);
        else if (report->shown_count)
            say(out, lang, "nothing_else_to_change", NULL, 0);
        else
            say_closest(report, lang, verdict_closest(report, NULL, 0), "nothing_else", "nothing_else_closest", out);
    } else if (is_worth_it && has_lead) {
        struct named named = {{false}};
        name_once(&named, &report->findings[lead].finding);
        rc = say_finding(report, lang, lead, out, err);
        say_saving(report, lang, lead, &named, out);
        say_also(report, lang, &named, out);
    } else if (has_lead) {
        rc = say_small_fault(report, lang, lead, out, err);
    } else {
        rc = say_healthy(report, lang, out, err);
    }
    if (tells_wait && is_usual)
        say_usual_start(report, lang, out);
    return rc ? rc : say_regression(report, lang, lead, out, err);
}

/* ---- empty pages */

/* Each row: it says this where the query gives a number above 0 (which is {n}). In order; the first that holds. */
static const struct {
    enum empty_page page;
    const char *what;
    const char *sql;
} empty_reasons[] = {
    {EMPTY_STORAGE, "storage_none", "SELECT NOT EXISTS (SELECT 1 FROM rdd WHERE coalesce(use_disk, 0) OR coalesce(use_memory, 0))"},
    {EMPTY_STORAGE, "storage_lazy",
     "SELECT NOT EXISTS (SELECT 1 FROM rdd AS r JOIN stage_rdd AS s USING (rdd_id) JOIN stage AS g USING (stage_ref) WHERE (coalesce(r.use_disk, 0) OR coalesce(r.use_memory, 0)) "
     "AND g.completion_ms IS NOT NULL)"},
    {EMPTY_STORAGE, "storage_released", "SELECT EXISTS (SELECT 1 FROM rdd WHERE unpersisted) AND NOT EXISTS (SELECT 1 FROM rdd WHERE tracked)"},
    {EMPTY_STORAGE, "storage_no_events",
     "SELECT CASE WHEN EXISTS (SELECT 1 FROM rdd_partition) THEN 0 ELSE (SELECT count(*) FROM rdd WHERE coalesce(use_disk, 0) OR coalesce(use_memory, 0)) END"},
    {EMPTY_SQL, "sql_old", "SELECT NOT EXISTS (SELECT 1 FROM sql_execution) AND (SELECT spark_version GLOB '1.*' FROM application)"},
    {EMPTY_SQL, "sql_nothing", "SELECT NOT EXISTS (SELECT 1 FROM sql_execution) AND NOT EXISTS (SELECT 1 FROM job)"},
    {EMPTY_SQL, "sql_rdd", "SELECT NOT EXISTS (SELECT 1 FROM sql_execution)"},
    {EMPTY_STREAMING, "streaming_dstreams", "SELECT NOT EXISTS (SELECT 1 FROM streaming_query) AND EXISTS (SELECT 1 FROM job WHERE batch_ms IS NOT NULL)"},
    {EMPTY_STREAMING, "streaming_none", "SELECT NOT EXISTS (SELECT 1 FROM streaming_query)"},
    {EMPTY_STREAMING, "streaming_no_progress", "SELECT NOT EXISTS (SELECT 1 FROM streaming_progress)"},
    {EMPTY_EXECUTOR_PEAKS, "executors_old", "SELECT spark_version GLOB '[12].*' FROM application"},
    {EMPTY_EXECUTOR_PEAKS, "executors_no_peaks", "SELECT coalesce(max(peak_jvm_heap_memory_bytes), 0) = 0 FROM executor"},
    {EMPTY_JOBS, "jobs_none", "SELECT NOT EXISTS (SELECT 1 FROM job)"},
};

/* Of a log that lacks its end: what is not there may just not have been written. */
static enum err_code say_cut(struct db *app, enum lang lang, struct buf *out, struct err *err)
{
    int64_t end_ms;
    enum err_code rc = db_query_i64(app, "SELECT end_ms FROM analysis, log_health WHERE completeness <= 95 AND NOT log_health.complete", &end_ms, err);
    if (!rc && known(end_ms)) {
        const struct word_arg at = number("t", (double)end_ms, "time");
        if (lang == LANG_EN)
            buf_char(out, ' ');
        word_fill(out, message_of(lang, "empty", "cut"), &at, 1);
    }
    return rc;
}

enum err_code verdict_empty(struct db *app, enum empty_page page, enum lang lang, struct buf *out, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LENGTH(empty_reasons); i++) {
        if (empty_reasons[i].page != page)
            continue;
        int64_t holds;
        enum err_code rc = db_query_i64(app, empty_reasons[i].sql, &holds, err);
        if (rc)
            return rc;
        if (known_or(holds, 0) <= 0)
            continue;
        const struct word_arg n = number("n", (double)holds, "count");
        word_fill(out, message_of(lang, "empty", empty_reasons[i].what), &n, 1);
        return say_cut(app, lang, out, err);
    }
    return ERR_OK;
}
