/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/executor_loss.h"

#include <string.h>

#include "analysis/error_text.h"
#include "base/units.h"

/* Why, as the sentences name it. Exit code 137 is a kill: a memory limit is likely on YARN and Kubernetes, and no proof. */
static const struct {
    const char *word, *reason;
} loss_words[] = {
    {"beyond physical memory", "memory limit"},
    {"exceeding memory limits", "memory limit"},
    {"exceeding physical memory", "memory limit"},
    {"exceeding virtual memory", "memory limit"},
    {"OOMKilled", "memory limit"},
    {"OutOfMemory", "heap full"},
    {"preempt", "preempted"},
    {"spot", "spot reclaimed"},
    {"heartbeat", "heartbeat timed out"},
    {"timed out", "heartbeat timed out"},
    {"No space left", "disk full"},
    {"disconnected", "disconnected"},
    {"disassociated", "disconnected"},
    {"decommission", "decommissioned"},
};

const char *executor_loss_reason(struct str text)
{
    for (size_t i = 0; str_known(text) && i < ARRAY_LENGTH(loss_words); i++)
        if (memmem(text.ptr, text.len, loss_words[i].word, strlen(loss_words[i].word)))
            return loss_words[i].reason;
    switch (exit_code_of(text)) {
    case EXIT_OUT_OF_MEMORY: return "heap full";
    case EXIT_NO_DIRECTORY: return "disk full";
    case EXIT_NO_HEARTBEAT: return "heartbeat timed out";
    case 137: return "killed (137)";
    case 143: return "terminated (143)";
    default: return "unknown";
    }
}

bool executor_loss_is_wanted(struct str text)
{
    static const char *const words[] = {"idle",
                                        "Idle",
                                        "decommission",
                                        "Decommission",
                                        "killed by driver",
                                        "Executor killed by driver",
                                        "Requesting driver to remove",
                                        "explicit termination request",
                                        "Command exited with code 0"};
    for (size_t i = 0; str_known(text) && i < ARRAY_LENGTH(words); i++)
        if (memmem(text.ptr, text.len, words[i], strlen(words[i])))
            return true;
    return false;
}

bool executor_was_lost(bool active, int64_t remove_ms, struct str reason, int64_t end_ms)
{
    bool early = !known(remove_ms) || !known(end_ms) || remove_ms < end_ms - EXECUTOR_SHUTDOWN_MS;
    return !active && early && !executor_loss_is_wanted(reason);
}
