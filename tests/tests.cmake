# SPDX-License-Identifier: Apache-2.0
# All tests, for ctest: `ctest --preset dev -R NAME` runs one. Kinds have labels (`ctest -L unit`): unit, fuzz, golden, report, damaged, failure, api, shared, static, web.
# All tests, for ctest: `ctest --preset dev -R NAME` runs one. Kinds have labels (`ctest -L unit`): unit, fuzz, golden, damaged, analysis, failure, api, shared, static, web.
# A test that cannot run here (something is not installed, ../shared is not there) ends with 77 and counts as skipped.
include(tests/fuzz/fuzz.cmake)
if(AFTERGLOW_FUZZ)
    return()
endif()
pkg_check_modules(CMOCKA IMPORTED_TARGET cmocka)
pkg_check_modules(CJSON IMPORTED_TARGET libcjson)       # reads the answers that are tested; the program reads JSON with ingest/event/json_pull alone
find_program(PYTHON3 python3)
find_program(NODE NAMES node nodejs)
if(NOT CMOCKA_FOUND OR NOT CJSON_FOUND OR NOT PYTHON3)
    message(STATUS "cmocka, cjson or python3 is missing: built without tests (tools/test installs them)")
    return()
endif()

# Unit tests: tests/unit/<floor>/test_<file>.c, one program each, linked with its floor.
function(unit_tests folder)
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/unit/${folder}/test_*.c)
    foreach(source IN LISTS sources)
        get_filename_component(name ${source} NAME_WE)
        add_executable(${name} ${source})
        target_link_libraries(${name} PRIVATE ${ARGN} PkgConfig::CMOCKA)
        target_compile_definitions(${name} PRIVATE TEST_DATA="${CMAKE_SOURCE_DIR}/tests/data")
        # cmocka's assertions do not return, and gcc does not know.
        target_compile_options(${name} PRIVATE -Wno-null-dereference)
        add_test(NAME ${name} COMMAND ${name})
        set_tests_properties(${name} PROPERTIES LABELS unit TIMEOUT 300)
    endforeach()
endfunction()

unit_tests(base ag_base)
unit_tests(source ag_source)
unit_tests(event ag_event)
unit_tests(model ag_model)
unit_tests(store ag_store)
unit_tests(ingest ag_ingest)
unit_tests(analysis ag_analysis)
foreach(name print_simulation print_stages)      # what analysis says of a database, for tests in Python
    add_executable(${name} tests/unit/analysis/${name}.c)
    target_link_libraries(${name} PRIVATE ag_analysis)
endforeach()
unit_tests(server ag_server PkgConfig::CJSON PkgConfig::ARCHIVE)

# script_test(NAME LABEL SECONDS COMMAND…): the program under test is in $AFTERGLOW_BINARY, the top of the tree in $AFTERGLOW_ROOT.
function(script_test name label seconds)
    add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT ${seconds} SKIP_RETURN_CODE 77
        ENVIRONMENT "AFTERGLOW_BINARY=$<TARGET_FILE:afterglow>;AFTERGLOW_ROOT=${CMAKE_SOURCE_DIR};PYTHONDONTWRITEBYTECODE=1")
endfunction()

set(SUPPORT ${CMAKE_SOURCE_DIR}/tests/support)
foreach(check includes house settings)
    script_test(check_${check} static 60 ${PYTHON3} ${SUPPORT}/check_${check}.py)
endforeach()

file(GLOB goldens CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/golden/*.txt)
foreach(golden IN LISTS goldens)
    get_filename_component(name ${golden} NAME_WE)
    script_test(golden_${name} golden 60 ${PYTHON3} ${CMAKE_SOURCE_DIR}/tests/golden/golden.py ${name})
endforeach()

set(STAGES ${CMAKE_COMMAND} -E env AFTERGLOW_PRINT_STAGES=$<TARGET_FILE:print_stages> ${PYTHON3} ${CMAKE_SOURCE_DIR}/tests/golden/stages.py)
script_test(golden_stages golden 300 ${STAGES} own)
script_test(golden_stages_shared shared 600 ${STAGES} shared)
set(SIMULATION ${CMAKE_COMMAND} -E env AFTERGLOW_PRINT_SIMULATION=$<TARGET_FILE:print_simulation> ${PYTHON3} ${CMAKE_SOURCE_DIR}/tests/golden/simulation.py)
script_test(golden_simulation golden 300 ${SIMULATION} own)
script_test(golden_simulation_shared shared 600 ${SIMULATION} shared)
script_test(golden_findings golden 300 ${PYTHON3} ${CMAKE_SOURCE_DIR}/tests/golden/findings.py)
script_test(golden_recount golden 300 ${PYTHON3} ${CMAKE_SOURCE_DIR}/tests/golden/recount.py)

script_test(golden_reports golden 120 ${PYTHON3} ${CMAKE_SOURCE_DIR}/tests/golden/reports.py)
foreach(case nightly noise renumbered usual statuses hostile everything)
    script_test(comparisons_${case} report 300 ${PYTHON3} ${SUPPORT}/comparisons.py ${case})
endforeach()
foreach(case statuses temporary hostile forms analyze)
    script_test(reports_${case} report 300 ${PYTHON3} ${SUPPORT}/reports.py ${case})
endforeach()

script_test(damaged_own damaged 300 ${PYTHON3} ${SUPPORT}/damaged.py own)
script_test(damaged_shared damaged 900 ${PYTHON3} ${SUPPORT}/damaged.py shared)
script_test(corpus_shared damaged 600 ${PYTHON3} ${SUPPORT}/corpus.py)

foreach(case disk_full file_size_limit read_only_store killed_at_random memory_limit two_at_once foreign_store)
    script_test(failure_${case} failure 300 ${PYTHON3} ${SUPPORT}/failures.py ${case})
endforeach()

add_executable(print_account tests/analysis/print_account.c)
target_link_libraries(print_account PRIVATE ag_analysis)
foreach(logs own shared)
    script_test(accounts_${logs} analysis 900 ${PYTHON3} ${CMAKE_SOURCE_DIR}/tests/analysis/accounts.py ${logs})
    set_property(TEST accounts_${logs} APPEND PROPERTY ENVIRONMENT "AFTERGLOW_PRINT_ACCOUNT=$<TARGET_FILE:print_account>")
endforeach()

set(API ${CMAKE_SOURCE_DIR}/tests/api)
script_test(api_client api 300 ${PYTHON3} ${API}/client.py)
script_test(api_captures api 300 ${PYTHON3} ${API}/captures.py own)
script_test(api_captures_shared shared 900 ${PYTHON3} ${API}/captures.py shared)
foreach(case bigblocks oom)
    script_test(api_${case} shared 300 ${PYTHON3} ${API}/big_logs.py ${case})
    set_tests_properties(api_${case} PROPERTIES RUN_SERIAL ON)    # they measure
endforeach()

if(NODE)
    file(GLOB suites CONFIGURE_DEPENDS ${API}/*.test.js ${API}/*.test.mjs)
    foreach(suite IN LISTS suites)
        get_filename_component(name ${suite} NAME_WE)
        script_test(api_${name} api 300 ${NODE} --test ${suite})
    endforeach()
    find_program(NPM npm)
    if(AFTERGLOW_WEB AND NPM)
        script_test(web_check web 300 ${NPM} --prefix ${CMAKE_SOURCE_DIR}/web run check)
        script_test(web_unit web 300 ${NPM} --prefix ${CMAKE_SOURCE_DIR}/web test)
        script_test(web_browser web 600 ${NODE} ${CMAKE_SOURCE_DIR}/tests/web/run.mjs)
    endif()
endif()
