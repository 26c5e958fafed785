/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/interactive.h"

#include "base/units.h"

enum err_code app_is_shell(struct db *app, bool *ret, struct err *err)
{
    int64_t is_shell;
    enum err_code rc =
        db_query_i64(app,
                     "SELECT EXISTS (SELECT 1 FROM environment WHERE section = 3 AND name = 'sun.java.command' AND (instr(value, '.repl.') OR instr(value, 'Shell'))) "
                     "AND NOT EXISTS (SELECT 1 FROM environment WHERE section = 1 AND name = 'spark.submit.deployMode' AND value = 'cluster')",
                     &is_shell, err);
    *ret = !rc && known_or(is_shell, 0) != 0;
    return rc;
}

enum err_code app_is_server(struct db *app, bool *ret, struct err *err)
{
    int64_t is_server;
    enum err_code rc = db_query_i64(app, "SELECT EXISTS (SELECT 1 FROM server_session)", &is_server, err);
    *ret = !rc && known_or(is_server, 0) != 0;
    return rc;
}
