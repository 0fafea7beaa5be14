# Targets as this project makes them: C++20, warnings are errors unless DVM_WERROR is off, headers found from the top of the tree.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(DVM_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()

# Everything but tests and the templates of libraries counts its branches for libFuzzer; only the targets bring its main().
if(DVM_FUZZ)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=fuzzer-no-link>
    "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fsanitize-coverage-ignorelist=${CMAKE_SOURCE_DIR}/tests/fuzz/uncounted.txt>")
endif()

add_library(dvm_warnings INTERFACE)
target_compile_options(dvm_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
  $<$<BOOL:${DVM_WERROR}>:-Werror>)
# GCC 12 sees overlapping copies in every "literal" + std::string once it inlines enough (-O3).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(dvm_warnings INTERFACE -Wno-restrict)
  if(DVM_PRECOMPILE)  # and with precompiled headers it forgets that these warnings are off in the standard library
    target_compile_options(dvm_warnings INTERFACE -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
  endif()
endif()

# GCC takes classes of a file that is compiled together with others for those of a header.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND DVM_UNITY)
  target_compile_options(dvm_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
endif()

# Headers that most files include, compiled once: a third of the time of a build. Each file still includes what it uses; the preset dev,
# which has no precompiled headers, reveals a file that does not.
set(DVM_USUAL_HEADERS <algorithm> <array> <charconv> <cmath> <cstdint> <cstring> <functional> <map> <memory> <optional> <set> <span>
  <string> <string_view> <unordered_map> <utility> <variant> <vector> <fmt/format.h>)

# dvm_precompile(TARGET FIRST HEADERS...): for the target FIRST; others take what was made for that, with the same options.
function(dvm_precompile target first)
  if(NOT DVM_PRECOMPILE)
    return()
  elseif(target STREQUAL first)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM ${first})
  endif()
endfunction()

# dvm_unite(TARGET): compiles its files sixteen at a time, which takes a quarter of the time. Names in unnamed namespaces meet there: a file
# whose names another one has, too, is compiled alone.
function(dvm_unite target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${DVM_UNITY} UNITY_BUILD_BATCH_SIZE 16)
endfunction()

# dvm_alone(FILES...): these are not compiled together with others.
function(dvm_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# For code that runs rarely and takes long to compile: tests, and with sanitizers what places probes, shows and exports results, the cost
# laboratory and the commands. There it halves the time for each file.
if(DVM_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL "Release")
  set(DVM_COLD_CODE -O0)
endif()

# dvm_library(NAME [COLD] SOURCES... ): a static library dvm_NAME. COLD: with sanitizers it is not optimised.
function(dvm_library name)
  cmake_parse_arguments(ARG "COLD" "" "" ${ARGN})
  add_library(dvm_${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(dvm_${name} PUBLIC ${CMAKE_SOURCE_DIR})
  target_link_libraries(dvm_${name} PRIVATE dvm_warnings)
  set(first dvm_common)
  if(ARG_COLD AND DVM_SANITIZE)
    set(first dvm_dif)  # what was compiled with other options cannot be used
    target_compile_options(dvm_${name} PRIVATE ${DVM_COLD_CODE})
  endif()
  dvm_precompile(dvm_${name} ${first} ${DVM_USUAL_HEADERS})
  dvm_unite(dvm_${name})
endfunction()

# Aligns the functions and jumps of code that runs for each firing. Otherwise the code linked before it would decide how many lines of the
# instruction cache the body of an opcode spans, and its cost would differ from build to build.
function(dvm_align_code target)
  # Without unity builds, as what lies beside a function would depend on its neighbours; and without precompiled headers, as GCC 12
  # compiles templates with the options of those headers.
  set_target_properties(${target} PROPERTIES UNITY_BUILD OFF DISABLE_PRECOMPILE_HEADERS ON)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -falign-functions=64 -falign-jumps=32 -falign-labels=32 -falign-loops=32)
  endif()
endfunction()

# dvm_optimise(FILES...): functions whose machine code a test reads, which is only without a frame if it is optimised. They lie in a file of
# their own, so that the test itself has the precompiled headers.
function(dvm_optimise)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS -O1 SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# dvm_short_jumps(FILES...): tests with functions in assembler whose lengths are known. Clang makes all jumps long where it does not optimise.
function(dvm_short_jumps)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS "$<$<CXX_COMPILER_ID:Clang>:-mno-relax-all>")
endfunction()

# dvm_link_fast(TARGET): with sanitizers, mold links the program in a fifth of the time; a hundred programs of up to 200 MB are linked there.
# Not for programs that tests trace: these are laid out as the compiler's own linker does it.
if(DVM_SANITIZE)
  find_program(DVM_MOLD NAMES ld.mold)
endif()
function(dvm_link_fast target)
  if(DVM_SANITIZE AND DVM_MOLD)
    target_link_options(${target} PRIVATE -fuse-ld=mold)
  endif()
endfunction()

# Each thread keeps ended stack frames for a while, to find uses of them. By default the compiler's thread, whose stack is large, keeps so
# many that a third of the time of its tests goes into new pages.
set(DVM_ASAN_OPTIONS max_uar_stack_size_log=16)

# dvm_test(NAME [READS_ITSELF] SOURCES... LIBS libraries...): a GoogleTest program run by ctest. READS_ITSELF: its tests trace it.
function(dvm_test name)
  cmake_parse_arguments(ARG "READS_ITSELF" "" "LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_compile_options(${name} PRIVATE ${DVM_COLD_CODE} $<$<AND:$<BOOL:${DVM_FUZZ}>,$<COMPILE_LANGUAGE:CXX>>:-fno-sanitize=fuzzer-no-link>)
  dvm_precompile(${name} common_test ${DVM_USUAL_HEADERS} <gmock/gmock.h> <gtest/gtest.h>)
  dvm_unite(${name})
  if(NOT ARG_READS_ITSELF)
    dvm_link_fast(${name})
  endif()
  target_compile_definitions(${name} PRIVATE DVM_SOURCE_DIR="${CMAKE_SOURCE_DIR}" DVM_BINARY_DIR="${CMAKE_BINARY_DIR}")
  target_link_libraries(${name} PRIVATE dvm_warnings ${ARG_LIBS} GTest::gtest_main GTest::gmock)
  if(TARGET dvm_llvm)  # the engine that a program loads
    target_compile_definitions(${name} PRIVATE DVM_HAS_LLVM)
    add_dependencies(${name} dvm_llvm)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  if(DVM_SANITIZE)
    # ASan guesses where a library loaded at run time has its thread-local variables; looking for leaks it then reads astray.
    set_tests_properties(${name} PROPERTIES ENVIRONMENT ASAN_OPTIONS=intercept_tls_get_addr=0:${DVM_ASAN_OPTIONS})
  endif()
endfunction()
