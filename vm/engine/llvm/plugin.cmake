# The translator of engine llvm, which dvm loads when it is asked for. Without LLVM 19, everything else is built, and dvm says what is missing.
if(DVM_LLVM)
  find_package(LLVM 19.1 CONFIG QUIET)
endif()
if(NOT DVM_LLVM OR NOT LLVM_FOUND)
  if(DVM_LLVM)
    message(STATUS "LLVM 19.1 not found: the engine llvm is not built (Debian: llvm-19-dev, libzstd-dev)")
  endif()
  set_source_files_properties(engine/native/load_translator.cpp PROPERTIES COMPILE_DEFINITIONS DVM_WITHOUT_LLVM)
  return()
endif()

add_library(dvm_llvm MODULE
  ${CMAKE_CURRENT_LIST_DIR}/body.cpp
  ${CMAKE_CURRENT_LIST_DIR}/check_access.cpp
  ${CMAKE_CURRENT_LIST_DIR}/function.cpp
  ${CMAKE_CURRENT_LIST_DIR}/lower_ops.cpp
  ${CMAKE_CURRENT_LIST_DIR}/lowering.cpp
  ${CMAKE_CURRENT_LIST_DIR}/object.cpp
  ${CMAKE_CURRENT_LIST_DIR}/plugin.cpp
  ${CMAKE_CURRENT_LIST_DIR}/rare_call.cpp)
dvm_unite(dvm_llvm)
set_target_properties(dvm_llvm PROPERTIES PREFIX "" OUTPUT_NAME dvm-llvm LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/dvm)
add_dependencies(dvm_llvm dvm_interface)
target_include_directories(dvm_llvm PRIVATE ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/include ${DVM_INTERFACE_FOLDER})
target_include_directories(dvm_llvm SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
target_compile_definitions(dvm_llvm PRIVATE ${LLVM_DEFINITIONS})
target_link_libraries(dvm_llvm PRIVATE dvm_warnings LLVM)
install(TARGETS dvm_llvm LIBRARY DESTINATION lib/dvm COMPONENT dvm-llvm)
