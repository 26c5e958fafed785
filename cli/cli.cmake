# SPDX-License-Identifier: Apache-2.0
# The program: one file a verb.
file(GLOB cli_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/cli/*.c)
add_executable(afterglow ${cli_sources})
target_link_libraries(afterglow PRIVATE ag_server ag_analysis ag_ingest)
