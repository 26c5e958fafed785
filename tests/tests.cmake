# SPDX-License-Identifier: Apache-2.0
# All tests, for ctest: `ctest --preset dev -R NAME` runs one. Kinds have labels (`ctest -L unit`): unit, fuzz, golden, report, damaged, failure, places, api, shared, static, web;
# `values` besides: it compares numbers, which are the same in every build, and takes long. A test that cannot run here (something is not installed, ../shared is not there) ends with 77 and counts as skipped.
include(tests/fuzz/fuzz.cmake)
# A limit is for what hangs: on a machine that does ten other things every test takes ten times as long.
set(PATIENCE_SECONDS 1200)
if(AFTERGLOW_FUZZ)
    return()
endif()
pkg_check_modules(CMOCKA IMPORTED_TARGET cmocka)
pkg_check_modules(CJSON IMPORTED_TARGET libcjson)       # reads the answers that are tested; the program reads JSON with base/json_pull alone
find_program(PYTHON3 python3)
find_program(NODE NAMES node nodejs)
if(NOT CMOCKA_FOUND OR NOT CJSON_FOUND OR NOT PYTHON3)
    message(STATUS "cmocka, cjson or python3 is missing: built without tests (tools/test installs them)")
    return()
endif()

find_program(GOLD ld.gold)      # links these many programs in half the time

# Unit tests: tests/unit/<floor>/test_<file>.c, one program each, linked with its floor.
function(unit_tests folder)
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/unit/${folder}/test_*.c)
    foreach(source IN LISTS sources)
        get_filename_component(name ${source} NAME_WE)
        add_executable(${name} ${source})
        target_link_libraries(${name} PRIVATE ${ARGN} PkgConfig::CMOCKA)
        target_compile_definitions(${name} PRIVATE TEST_DATA="${CMAKE_SOURCE_DIR}/tests/data")
        # cmocka's assertions do not return, and gcc does not know. What is optimized is what is tested; the tests are many, and compile sooner without.
        target_compile_options(${name} PRIVATE -Wno-null-dereference $<$<CONFIG:Debug>:-O0>)
        if(GOLD)
            target_link_options(${name} PRIVATE -fuse-ld=gold)
        endif()
        add_test(NAME ${name} COMMAND ${name})
        set_tests_properties(${name} PROPERTIES LABELS unit TIMEOUT ${PATIENCE_SECONDS})
    endforeach()
endfunction()

unit_tests(base ag_base)
unit_tests(place ag_place)
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

# script_test(NAME LABEL COMMAND…): the program under test is in $AFTERGLOW_BINARY, the top of the tree in $AFTERGLOW_ROOT.
function(script_test name label)
    add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT ${PATIENCE_SECONDS} SKIP_RETURN_CODE 77
        ENVIRONMENT "AFTERGLOW_BINARY=$<TARGET_FILE:afterglow>;AFTERGLOW_ROOT=${CMAKE_SOURCE_DIR};PYTHONDONTWRITEBYTECODE=1")
endfunction()

set(SUPPORT ${CMAKE_SOURCE_DIR}/tests/support)
foreach(check includes house operation settings)
    script_test(check_${check} static ${PYTHON3} ${SUPPORT}/check_${check}.py)
endforeach()

file(GLOB goldens CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/golden/*.txt)
foreach(golden IN LISTS goldens)
    get_filename_component(name ${golden} NAME_WE)
    script_test(golden_${name} golden ${PYTHON3} ${CMAKE_SOURCE_DIR}/tests/golden/golden.py ${name})
endforeach()

set(STAGES ${CMAKE_COMMAND} -E env AFTERGLOW_PRINT_STAGES=$<TARGET_FILE:print_stages> ${PYTHON3} ${CMAKE_SOURCE_DIR}/tests/golden/stages.py)
script_test(golden_stages golden ${STAGES} own)
script_test(golden_stages_shared shared ${STAGES} shared)
set(SIMULATION ${CMAKE_COMMAND} -E env AFTERGLOW_PRINT_SIMULATION=$<TARGET_FILE:print_simulation> ${PYTHON3} ${CMAKE_SOURCE_DIR}/tests/golden/simulation.py)
script_test(golden_simulation golden ${SIMULATION} own)
script_test(golden_simulation_shared shared ${SIMULATION} shared)
script_test(golden_findings golden ${PYTHON3} ${CMAKE_SOURCE_DIR}/tests/golden/findings.py)
script_test(golden_planted golden ${PYTHON3} ${CMAKE_SOURCE_DIR}/tests/golden/planted.py)
script_test(golden_sentences golden ${PYTHON3} ${CMAKE_SOURCE_DIR}/tests/golden/sentences.py)
script_test(golden_recount golden ${PYTHON3} ${CMAKE_SOURCE_DIR}/tests/golden/recount.py)

script_test(golden_reports golden ${PYTHON3} ${CMAKE_SOURCE_DIR}/tests/golden/reports.py)
foreach(case nightly noise renumbered usual usual_http statuses hostile everything)
    script_test(comparisons_${case} report ${PYTHON3} ${SUPPORT}/comparisons.py ${case})
endforeach()
foreach(case statuses temporary hostile forms analyze)
    script_test(reports_${case} report ${PYTHON3} ${SUPPORT}/reports.py ${case})
endforeach()

script_test(damaged_own damaged ${PYTHON3} ${SUPPORT}/damaged.py own)
script_test(damaged_shared damaged ${PYTHON3} ${SUPPORT}/damaged.py shared)
script_test(corpus_shared damaged ${PYTHON3} ${SUPPORT}/corpus.py)

foreach(case arrivals_read_only clock_jumps disk_full file_size_limit read_only_store killed_at_random killed_under_load killed_while_cleaning memory_limit two_at_once foreign_store other_version no_store)
    script_test(failure_${case} failure ${PYTHON3} ${SUPPORT}/failures.py ${case})
endforeach()
foreach(case same shares answers confined killed served hostile spark)
    script_test(backfill_${case} failure ${PYTHON3} ${SUPPORT}/backfill.py ${case})
endforeach()

foreach(case roles worker_killed)
    script_test(replicas_${case} failure ${PYTHON3} ${SUPPORT}/replicas.py ${case})
endforeach()

foreach(case hdfs kerberos s3)
    script_test(places_${case} places ${PYTHON3} ${SUPPORT}/real_places.py ${case})
endforeach()

add_executable(print_account tests/analysis/print_account.c)
target_link_libraries(print_account PRIVATE ag_analysis)
foreach(logs own shared)
    script_test(accounts_${logs} analysis ${PYTHON3} ${CMAKE_SOURCE_DIR}/tests/analysis/accounts.py ${logs})
    set_property(TEST accounts_${logs} APPEND PROPERTY ENVIRONMENT "AFTERGLOW_PRINT_ACCOUNT=$<TARGET_FILE:print_account>")
endforeach()

set(API ${CMAKE_SOURCE_DIR}/tests/api)
script_test(api_client api ${PYTHON3} ${API}/client.py)
script_test(api_captures api ${PYTHON3} ${API}/captures.py own)
script_test(api_edges api ${PYTHON3} ${API}/edges.py)
script_test(api_cleaner api ${PYTHON3} ${API}/cleaner.py ours)
script_test(api_exact api ${PYTHON3} ${API}/exact.py)
script_test(api_captures_hand api ${PYTHON3} ${API}/captures.py hand)
script_test(api_captures_shared shared ${PYTHON3} ${API}/captures.py shared)
foreach(case bigblocks oom)
    script_test(api_${case} shared ${PYTHON3} ${API}/big_logs.py ${case})
    set_tests_properties(api_${case} PROPERTIES RUN_SERIAL ON)    # they measure
endforeach()

if(NODE)
    file(GLOB suites CONFIGURE_DEPENDS ${API}/*.test.js ${API}/*.test.mjs)
    foreach(suite IN LISTS suites)
        get_filename_component(name ${suite} NAME_WE)
        script_test(api_${name} api ${NODE} --test ${suite})
    endforeach()
    find_program(NPM npm)
    if(AFTERGLOW_WEB AND NPM)
        script_test(web_check web ${NPM} --prefix ${CMAKE_SOURCE_DIR}/web run check)
        script_test(web_unit web ${NPM} --prefix ${CMAKE_SOURCE_DIR}/web test)
        file(GLOB suites CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/web/*.test.mjs)
        foreach(suite IN LISTS suites)
            get_filename_component(name ${suite} NAME_WE)
            script_test(web_${name} web ${NODE} ${CMAKE_SOURCE_DIR}/tests/web/run.mjs ${name})
        endforeach()
        set_tests_properties(web_pages web_walk web_hostile-text PROPERTIES COST 1000)
    endif()
endif()

# The longest begin first, beside the others.
set_tests_properties(test_pipeline_memory test_pipeline reports_forms failure_killed_at_random failure_two_at_once test_line_reader test_worker accounts_shared golden_recount
    api_logs api_captures_shared PROPERTIES COST 500)
foreach(test golden_recount golden_stages_shared golden_simulation_shared accounts_shared)
    set_property(TEST ${test} APPEND PROPERTY LABELS values)
endforeach()
