# SPDX-License-Identifier: Apache-2.0
# The server: HTTP, the two APIs, and the pages, which are compiled in.
file(GLOB server_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/server/*.c ${CMAKE_SOURCE_DIR}/server/api/*.c ${CMAKE_SOURCE_DIR}/server/api_v1/*.c)

set(assets_source ${GENERATED}/assets_table.c)
set(embed ${CMAKE_SOURCE_DIR}/tools/embed_assets.mjs)
if(AFTERGLOW_WEB)
    find_program(NODE NAMES node nodejs REQUIRED)
    find_program(NPM npm REQUIRED)
    set(web ${CMAKE_SOURCE_DIR}/web)
    file(GLOB_RECURSE web_sources CONFIGURE_DEPENDS ${web}/*)
    list(FILTER web_sources EXCLUDE REGEX "/web/(node_modules|dist)/")
    # npm ci only when what is installed is older than the lock file: it needs the network, a build does not, and another build folder may have done it.
    set(installed ${CMAKE_BINARY_DIR}/web_installed.stamp)
    add_custom_command(OUTPUT ${installed}
        COMMAND test ${web}/node_modules/.package-lock.json -nt ${web}/package-lock.json || ${NPM} ci --no-audit --no-fund
        COMMAND ${CMAKE_COMMAND} -E touch ${installed}
        DEPENDS ${web}/package-lock.json WORKING_DIRECTORY ${web} COMMENT "Installing what the pages are built with")
    add_custom_command(OUTPUT ${assets_source}
        COMMAND ${NPM} run --silent build
        COMMAND ${NODE} ${embed} ${web}/dist ${assets_source}
        DEPENDS ${web_sources} ${embed} ${installed} WORKING_DIRECTORY ${web} COMMENT "Building the pages")
else()
    file(CONFIGURE OUTPUT ${assets_source} CONTENT "/* Built without pages. */\n#include \"server/assets.h\"\n\nconst struct asset assets_table[] = {{0}};\n")
endif()

add_library(ag_server STATIC ${server_sources} ${assets_source})
target_link_libraries(ag_server PUBLIC ag_analysis ag_place ag_base PkgConfig::MICROHTTPD PkgConfig::GNUTLS PkgConfig::CRYPT PkgConfig::ZLIB PkgConfig::DEFLATE)
