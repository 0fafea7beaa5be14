# Targets as this project makes them: C++20, warnings are errors, headers found from the top of the tree.

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

# Everything counts its branches for libFuzzer; only the targets bring its main().
if(DVM_FUZZ)
  add_compile_options(-fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()

add_library(dvm_warnings INTERFACE)
target_compile_options(dvm_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Werror)
# GCC 12 sees overlapping copies in every "literal" + std::string once it inlines enough (-O3).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(dvm_warnings INTERFACE -Wno-restrict)
endif()

# dvm_library(NAME SOURCES... ): a static library dvm_NAME.
function(dvm_library name)
  add_library(dvm_${name} STATIC ${ARGN})
  target_include_directories(dvm_${name} PUBLIC ${CMAKE_SOURCE_DIR})
  target_link_libraries(dvm_${name} PRIVATE dvm_warnings)
endfunction()

# dvm_test(NAME SOURCES... LIBS libraries...): a GoogleTest program run by ctest.
function(dvm_test name)
  cmake_parse_arguments(ARG "" "" "LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_compile_definitions(${name} PRIVATE DVM_SOURCE_DIR="${CMAKE_SOURCE_DIR}" DVM_BINARY_DIR="${CMAKE_BINARY_DIR}")
  target_link_libraries(${name} PRIVATE dvm_warnings ${ARG_LIBS} GTest::gtest_main GTest::gmock)
  add_test(NAME ${name} COMMAND ${name})
endfunction()
