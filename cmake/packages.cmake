# Debian packages by CPack: dvm, and dvm-llvm with the engine llvm if that is built. What is installed without a component belongs to dvm.

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME dvm)
set(CPACK_PACKAGE_VENDOR "dvm")
set(CPACK_PACKAGE_CONTACT "dvm developers <dvm@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "DTrace's D language for live processes, with the cost of every probe")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES OFF)  # dvm traces functions of its workload by name
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_COMPONENTS_ALL dvm)
set(CPACK_DEBIAN_DVM_PACKAGE_NAME dvm)
set(CPACK_DEBIAN_DVM_PACKAGE_RECOMMENDS "cpp")
set(CPACK_DEBIAN_DVM_PACKAGE_SUGGESTS "libc6-dbg")
# The libraries are those of this release.
file(STRINGS /etc/os-release os_release REGEX "^(ID|VERSION_ID|PRETTY_NAME)=")
foreach(line IN LISTS os_release)
  string(REGEX MATCH "^([A-Z_]+)=\"?([^\"]*)" matched "${line}")
  set(DVM_OS_${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
endforeach()
set(DVM_RELEASE "${DVM_OS_ID} ${DVM_OS_VERSION_ID}")
set(DVM_RELEASE_NAME "${DVM_OS_PRETTY_NAME}")
configure_file(cmake/preinst.in ${CMAKE_BINARY_DIR}/package/preinst @ONLY)
set(CPACK_DEBIAN_DVM_PACKAGE_CONTROL_EXTRA ${CMAKE_BINARY_DIR}/package/preinst)
set(CPACK_DEBIAN_DVM_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_COMPONENT_DVM_DESCRIPTION
"dvm compiles D scripts and runs them on events of live Linux processes:
functions, system calls, scheduling, markers. It predicts what a probe
costs before it is enabled and accounts for it afterwards.")
if(TARGET dvm_llvm)
  list(APPEND CPACK_COMPONENTS_ALL dvm-llvm)
  string(APPEND CPACK_DEBIAN_DVM_PACKAGE_SUGGESTS ", dvm-llvm")
  set(CPACK_DEBIAN_DVM-LLVM_PACKAGE_NAME dvm-llvm)
  set(CPACK_DEBIAN_DVM-LLVM_PACKAGE_DEPENDS "dvm (= ${PROJECT_VERSION})")
  set(CPACK_COMPONENT_DVM-LLVM_DESCRIPTION
"This package has the plugin with which dvm translates clauses to machine
code by LLVM (-x engine=llvm).")
endif()
include(CPack)
