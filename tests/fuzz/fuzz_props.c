/* SPDX-License-Identifier: Apache-2.0
 *
 * A properties file of anybody's, and each of its values as the value of a setting. Beside the sanitizers: keys and values end with a zero byte, lines ascend, what is found is what stands last. */
#include <stdlib.h>
#include <string.h>

#include "base/props.h"
#include "base/settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > 1 << 16)
        return 0;
    struct props props;
    struct err err = {0};
    struct settings *settings = NULL;
    props_init(&props);
    enum err_code rc = props_parse(&props, (struct str){(const char *)data + 1, size - 1}, &err);
    require(rc == ERR_OK || (rc == ERR_INVALID && err.line > 0));
    require(settings_new(&settings, NULL) == ERR_OK);
    enum setting_id id = (enum setting_id)(data[0] % SETTING_COUNT);
    for (size_t i = 0; i < props.count; i++) {
        const struct prop *prop = &props.items[i];
        require(prop->key.ptr[prop->key.len] == '\0' && prop->value.ptr[prop->value.len] == '\0' && prop->line > 0 && (i == 0 || prop->line > props.items[i - 1].line));
        if (i < 64 && !memchr(prop->key.ptr, '\0', prop->key.len))
            require(str_known(props_get(&props, prop->key.ptr)));
        if (i < 64 && settings_set(settings, id, prop->value.ptr, FROM_FILE, &err) == ERR_OK && setting_table[id].kind != SETTING_KIND_LIST)
            require(settings_origin(settings, id) == FROM_FILE);
    }
    settings_free(settings);
    props_dispose(&props);
    return 0;
}
