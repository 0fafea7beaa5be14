# dvm_needs: what of a process must be captured at a firing, by the DIF of its clauses.
dvm_library(needs instrument/capture.cpp instrument/capture_needs.cpp instrument/known_value.cpp)
target_link_libraries(dvm_needs PUBLIC dvm_dif)

# dvm_source: where probes are and how their firings arrive. Whoever adds files does so with a target_sources of a few lines.
dvm_library(source)
target_include_directories(dvm_source PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/include)
target_link_libraries(dvm_source PUBLIC dvm_dif dvm_needs PRIVATE fmt::fmt)

target_sources(dvm_source PRIVATE instrument/own_firing.cpp instrument/timer.cpp instrument/wanted_processes.cpp)

if(DVM_BPF)
  pkg_check_modules(libbpf REQUIRED IMPORTED_TARGET libbpf>=1.0)
  target_link_libraries(dvm_source PRIVATE PkgConfig::libbpf)
  target_sources(dvm_source PRIVATE
    instrument/breakpoint/breakpoint_instrument.cpp
    instrument/breakpoint/debug_register.cpp
    instrument/breakpoint/held_threads.cpp
    instrument/breakpoint/plan.cpp
    instrument/breakpoint/stopped_thread.cpp
    instrument/uprobe/attach.cpp
    instrument/uprobe/capture_program.cpp
    instrument/uprobe/cpu_clock.cpp
    instrument/uprobe/followed.cpp
    instrument/uprobe/kernel.cpp
    instrument/uprobe/kernel_emitter.cpp
    instrument/uprobe/kernel_types.cpp
    instrument/uprobe/load_watch.cpp
    instrument/uprobe/record_emitter.cpp
    instrument/uprobe/return_losses.cpp
    instrument/uprobe/ring.cpp
    instrument/uprobe/shield.cpp
    instrument/uprobe/tracepoints.cpp
    instrument/uprobe/uprobe_instrument.cpp)
else()
  target_sources(dvm_source PRIVATE instrument/absent/without_bpf.cpp)
endif()

find_package(Zydis REQUIRED)
find_package(ZLIB REQUIRED)
pkg_check_modules(libdw REQUIRED IMPORTED_TARGET libdw libelf)
pkg_check_modules(liblzma REQUIRED IMPORTED_TARGET liblzma)
find_library(DVM_IBERTY iberty REQUIRED)  # static only
target_link_libraries(dvm_source PRIVATE PkgConfig::libdw PkgConfig::liblzma ${DVM_IBERTY} ZLIB::ZLIB Zydis::Zydis ${CMAKE_DL_LIBS})
# libiberty declares a basename() of its own where <cstring> does.
set_source_files_properties(symbol/demangle.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
target_sources(dvm_source PRIVATE
  catalog/catalog.cpp
  instrument/uprobe/record.cpp
  code/entry_place.cpp
  code/exits.cpp
  code/frame_index.cpp
  code/function_code.cpp
  code/mapped_file.cpp
  code/module_code.cpp
  code/operated.cpp
  code/stack_check.cpp
  instrument/replay/recorded_instrument.cpp
  instrument/replay/recording_gaps.cpp
  instrument/replay/recording_reader.cpp
  instrument/replay/recording_writer.cpp
  instrument/replay/replay.cpp
  instrument/replay/synthetic.cpp
  instrument/uprobe/return_plan.cpp
  instrument/uprobe/site_plan.cpp
  instrument/uprobe/site_shape.cpp
  process/find_program.cpp
  process/cpu_topology.cpp
  process/late_reads.cpp
  process/open_files.cpp
  process/process.cpp
  process/process_start.cpp
  process/scheduling.cpp
  process/split_command.cpp
  process/start.cpp
  process/target_memory.cpp
  process/target_signals.cpp
  provider/dtrace.cpp
  provider/absent.cpp
  provider/kernel.cpp
  provider/pid.cpp
  provider/pid_functions.cpp
  provider/pid_probes.cpp
  provider/profile.cpp
  provider/providers.cpp
  provider/rawtp.cpp
  provider/syscall.cpp
  provider/usdt.cpp
  symbol/call_frames.cpp
  symbol/demangle.cpp
  symbol/dwarf_describe.cpp
  symbol/dwarf_file.cpp
  symbol/dwarf_names.cpp
  symbol/elf.cpp
  symbol/exceptions.cpp
  symbol/find_main.cpp
  symbol/frame_program.cpp
  symbol/go_functions.cpp
  symbol/go_program.cpp
  symbol/goroutine.cpp
  symbol/go_signature.cpp
  symbol/indirect.cpp
  symbol/kernel_symbols.cpp
  symbol/libdw_files.cpp
  symbol/exceptions.cpp
  symbol/linker.cpp
  symbol/mini_debug.cpp
  symbol/maps.cpp
  symbol/started_as.cpp
  symbol/open_elf.cpp
  symbol/parameter_place.cpp
  symbol/perf_map.cpp
  symbol/signature.cpp
  symbol/stapsdt.cpp
  symbol/stapsdt_arguments.cpp
  symbol/target_types.cpp
  symbol/unwinder.cpp
  symbol/user_symbols.cpp)
