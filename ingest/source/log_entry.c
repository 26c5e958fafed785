/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/source/log_entry.h"

#include "base/mem.h"

const char *log_layout_name(enum log_layout layout)
{
    switch (layout) {
    case LAYOUT_FILE: return "file";
    case LAYOUT_ROLLING: return "rolling";
    case LAYOUT_LEGACY: return "legacy";
    case LAYOUT_DATABRICKS: return "databricks";
    case LAYOUT_ZIP: return "zip";
    }
    return "unknown";
}

void log_entry_dispose(struct log_entry *self)
{
    if (!self)
        return;
    for (size_t i = 0; i < self->file_count; i++) {
        mem_free(self->files[i].path);
        mem_free(self->files[i].name);
        mem_free(self->files[i].member);
    }
    mem_free(self->files);
    mem_free(self->missing);
    mem_free(self->path);
    mem_free(self->dir);
    mem_free(self->id_from_name);
    *self = (struct log_entry){0};
}
