/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/place_setup.h"

#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "place/config.h"
#include "place/kerberos.h"

/* One that is not there says nothing; one that cannot be read is told. */
static enum err_code read_site(const char *dir, const char *name, struct err *err)
{
    char path[4096];
    struct err why = {0};
    snprintf(path, sizeof path, "%s/%s", dir, name);
    enum err_code rc = place_config_read_site(path, &why);
    return !rc || rc == ERR_NOT_FOUND ? ERR_OK : err_set(err, rc, "%.150s: %.90s", path, why.message);
}

enum err_code place_setup(const struct settings *settings, struct err *err)
{
    static const enum setting_id passed[] = {SETTING_HDFS_USER, SETTING_HDFS_TOKEN_FILE, SETTING_KERBEROS, SETTING_PLACES_CA_FILE, SETTING_PLACES_PROXY, SETTING_HDFS_NODES};
    const char *dir = settings_text(settings, SETTING_HADOOP_CONF), *keytab = settings_text(settings, SETTING_KERBEROS_KEYTAB);
    struct str key, value;
    char timeout[32];
    enum err_code rc = ERR_OK;
    if (dir && *dir && ((rc = read_site(dir, "core-site.xml", err)) || (rc = read_site(dir, "hdfs-site.xml", err))))
        return rc;
    for (size_t i = 0; !rc && settings_hadoop(settings, i, &key, &value); i++)
        rc = place_config_set(key, value, err);
    for (size_t i = 0; !rc && i < ARRAY_LENGTH(passed); i++) {
        const char *text = settings_text(settings, passed[i]);
        if (text && *text)
            rc = place_config_set(str_of(setting_table[passed[i]].key), str_of(text), err);
    }
    snprintf(timeout, sizeof timeout, "%lld", (long long)settings_i64(settings, SETTING_PLACES_TIMEOUT));
    if (!rc)
        rc = place_config_set(STR_LIT("afterglow.places.timeoutMs"), str_of(timeout), err);
    if (!rc && keytab && *keytab && (rc = kerberos_use(keytab, kerberos_is_on() ? settings_text(settings, SETTING_KERBEROS_PRINCIPAL) : NULL, err)))
        err_prefix(err, "%s", setting_table[SETTING_KERBEROS_PRINCIPAL].key);
    return rc;
}
