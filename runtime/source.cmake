# Where probes are and how their firings arrive: a library for each folder.
find_package(Zydis REQUIRED)
find_package(ZLIB REQUIRED)
pkg_check_modules(libdw REQUIRED IMPORTED_TARGET libdw libelf)
pkg_check_modules(liblzma REQUIRED IMPORTED_TARGET liblzma)
find_library(DVM_IBERTY iberty REQUIRED)  # static only

dvm_library(catalog
  catalog/catalog.cpp)
target_include_directories(dvm_catalog PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/include)
target_link_libraries(dvm_catalog PUBLIC dvm_dif)

dvm_library(code  # optimised with sanitizers, too: the tests plan in large files with it hundreds of times
  code/computed_jumps.cpp
  code/constant_flow.cpp
  code/dead_ends.cpp
  code/displaced.cpp
  code/entry_place.cpp
  code/exits.cpp
  code/flags_use.cpp
  code/jump_tables.cpp
  code/frame_index.cpp
  code/file_symbols.cpp
  code/function_code.cpp
  code/known_tables.cpp
  code/landing_pads.cpp
  code/mapped_file.cpp
  code/module_code.cpp
  code/named_code.cpp
  code/naming_file.cpp
  code/operated.cpp
  code/raised_signals.cpp
  code/register_values.cpp
  code/restarts.cpp
  code/stack_check.cpp
  code/system_calls.cpp
  code/tail_exits.cpp)
target_link_libraries(dvm_code PUBLIC dvm_common PRIVATE Zydis::Zydis)

dvm_library(process COLD
  process/cpu_topology.cpp
  process/find_program.cpp
  process/emulated.cpp
  process/interrupted_call.cpp
  process/single_step.cpp
  process/late_reads.cpp
  process/open_files.cpp
  process/proc_files.cpp
  process/process.cpp
  process/proc_state.cpp
  process/process_start.cpp
  process/reaped.cpp
  process/seize.cpp
  process/scheduling.cpp
  process/split_command.cpp
  process/start.cpp
  process/target_memory.cpp
  process/target_signals.cpp
  process/thread_status.cpp)
target_include_directories(dvm_process PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/include)
target_link_libraries(dvm_process PUBLIC dvm_common dvm_vm PRIVATE fmt::fmt)
dvm_alone(process/proc_state.cpp process/scheduling.cpp process/target_signals.cpp)

dvm_library(symbol
  symbol/call_frames.cpp
  symbol/declared_providers.cpp
  symbol/demangle.cpp
  symbol/dwarf_describe.cpp
  symbol/dwarf_file.cpp
  symbol/dwarf_names.cpp
  symbol/dwarf_scope.cpp
  symbol/elf.cpp
  symbol/exceptions.cpp
  symbol/find_main.cpp
  symbol/frame_program.cpp
  symbol/go_functions.cpp
  symbol/go_program.cpp
  symbol/go_signature.cpp
  symbol/goroutine.cpp
  symbol/indirect.cpp
  symbol/kernel_symbols.cpp
  symbol/libdw_files.cpp
  symbol/linker.cpp
  symbol/maps.cpp
  symbol/mini_debug.cpp
  symbol/needed.cpp
  symbol/open_elf.cpp
  symbol/parameter_place.cpp
  symbol/perf_map.cpp
  symbol/rust_passing.cpp
  symbol/signature.cpp
  symbol/source_places.cpp
  symbol/stack_switches.cpp
  symbol/stapsdt.cpp
  symbol/stapsdt_arguments.cpp
  symbol/started_as.cpp
  symbol/target_types.cpp
  symbol/frame_end.cpp
  symbol/unwinder.cpp
  symbol/kept_files.cpp
  symbol/user_symbols.cpp)
target_link_libraries(dvm_symbol PUBLIC dvm_catalog dvm_code dvm_process PRIVATE PkgConfig::libdw PkgConfig::liblzma ${DVM_IBERTY} ZLIB::ZLIB ${CMAKE_DL_LIBS} fmt::fmt)
dvm_alone(symbol/demangle.cpp symbol/go_signature.cpp symbol/kernel_symbols.cpp symbol/mini_debug.cpp symbol/perf_map.cpp symbol/rust_passing.cpp symbol/signature.cpp
  symbol/source_places.cpp symbol/user_symbols.cpp)
# libiberty declares a basename() of its own where <cstring> does.
set_source_files_properties(symbol/demangle.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON)

# Also what of a process must be captured at a firing, by the DIF of its clauses.
dvm_library(instrument COLD
  instrument/capture.cpp
  instrument/capture_needs.cpp
  instrument/known_value.cpp
  instrument/own_firing.cpp
  instrument/timer.cpp
  instrument/wanted_processes.cpp)
dvm_alone(instrument/capture.cpp)
target_link_libraries(dvm_instrument PUBLIC dvm_catalog dvm_symbol)

# Records and sites. The instrument itself needs libbpf.
dvm_library(uprobe COLD
  instrument/uprobe/delivery.cpp
  instrument/uprobe/return_hazards.cpp
  instrument/uprobe/record.cpp
  instrument/uprobe/return_plan.cpp
  instrument/uprobe/site_plan.cpp
  instrument/uprobe/site_shape.cpp
  instrument/uprobe/system_calls.cpp)
target_link_libraries(dvm_uprobe PUBLIC dvm_instrument dvm_code dvm_process PRIVATE fmt::fmt)

dvm_library(breakpoint COLD instrument/breakpoint/debug_register.cpp)
target_link_libraries(dvm_breakpoint PUBLIC dvm_uprobe PRIVATE fmt::fmt)

if(DVM_BPF)
  pkg_check_modules(libbpf REQUIRED IMPORTED_TARGET libbpf>=1.0)
  target_link_libraries(dvm_uprobe PRIVATE dvm_agent PkgConfig::libbpf)
  target_sources(dvm_uprobe PRIVATE
    instrument/uprobe/agent_jumps.cpp
    instrument/uprobe/attach.cpp
    instrument/uprobe/bpf_support.cpp
    instrument/uprobe/capture_program.cpp
    instrument/uprobe/cpu_clock.cpp
    instrument/uprobe/file_emitter.cpp
    instrument/uprobe/file_layout.cpp
    instrument/uprobe/exec_bell.cpp
    instrument/uprobe/exec_watch.cpp
    instrument/uprobe/followed.cpp
    instrument/uprobe/kernel.cpp
    instrument/uprobe/kernel_emitter.cpp
    instrument/uprobe/kernel_types.cpp
    instrument/uprobe/load_watch.cpp
    instrument/uprobe/own_memory.cpp
    instrument/uprobe/pid_namespace.cpp
    instrument/uprobe/pid_numbers.cpp
    instrument/uprobe/record_emitter.cpp
    instrument/uprobe/return_losses.cpp
    instrument/uprobe/return_review.cpp
    instrument/uprobe/ring.cpp
    instrument/uprobe/shared_code.cpp
    instrument/uprobe/shield.cpp
    instrument/uprobe/task_name.cpp
    instrument/uprobe/thread_watch.cpp
    instrument/uprobe/tracepoints.cpp
    instrument/uprobe/tracer_frames.cpp
    instrument/uprobe/uprobe_instrument.cpp)
  dvm_alone(instrument/uprobe/bpf_support.cpp instrument/uprobe/cpu_clock.cpp instrument/uprobe/shield.cpp)
  target_sources(dvm_breakpoint PRIVATE
    instrument/breakpoint/breakpoint_instrument.cpp
    instrument/breakpoint/held_threads.cpp
    instrument/breakpoint/plan.cpp
    instrument/breakpoint/stopped_thread.cpp)
else()
  dvm_library(absent instrument/absent/without_bpf.cpp)
  target_link_libraries(dvm_absent PUBLIC dvm_uprobe)
endif()

# Sites and lanes of agents in traced processes. Its records are those of uprobes.
dvm_library(instrument_agent COLD
  instrument/agent/agent_instrument.cpp
  instrument/agent/agent_planner.cpp
  instrument/agent/agent_steps.cpp
  instrument/agent/agent_target.cpp
  instrument/agent/agent_takers.cpp
  instrument/agent/agent_watches.cpp
  instrument/agent/arena_reader.cpp
  instrument/agent/changed_code.cpp
  instrument/agent/clause_code.cpp
  instrument/agent/clause_places.cpp
  instrument/agent/clause_records.cpp
  instrument/agent/division_code.cpp
  instrument/agent/fault_sites.cpp
  instrument/agent/foresee.cpp
  instrument/agent/global_code.cpp
  instrument/agent/text_key.cpp
  instrument/agent/lane_reader.cpp
  instrument/agent/semaphore_finder.cpp
  instrument/agent/stack_finder.cpp
  instrument/agent/tail_finder.cpp
  instrument/agent/late_updates.cpp
  instrument/agent/thread_clock.cpp
  instrument/agent/thread_ids.cpp
  instrument/agent/agent_notes.cpp
  instrument/agent/mapping_watch.cpp
  instrument/agent/memory_callers.cpp
  instrument/agent/placed_probes.cpp
  instrument/agent/left_programs.cpp
  instrument/agent/loaded_program.cpp
  instrument/agent/lost_probes.cpp
  instrument/agent/exec_hold.cpp
  instrument/agent/exec_holds.cpp
  instrument/agent/load_holds.cpp
  instrument/agent/gains_rights.cpp
  instrument/agent/record_program.cpp
  instrument/agent/value_code.cpp
  instrument/agent/yielded_probes.cpp)
target_link_libraries(dvm_instrument_agent PUBLIC dvm_agent dvm_uprobe PRIVATE dvm_breakpoint fmt::fmt)

dvm_library(replay
  instrument/replay/recorded_instrument.cpp
  instrument/replay/recording_gaps.cpp
  instrument/replay/recording_reader.cpp
  instrument/replay/recording_writer.cpp
  instrument/replay/replay.cpp
  instrument/replay/synthetic.cpp)
target_link_libraries(dvm_replay PUBLIC dvm_instrument dvm_process PRIVATE ZLIB::ZLIB fmt::fmt)
dvm_alone(instrument/replay/recording_writer.cpp)

dvm_library(provider COLD
  provider/absent.cpp
  provider/counters.cpp
  provider/dtrace.cpp
  provider/io.cpp
  provider/kernel.cpp
  provider/pid.cpp
  provider/pid_advice.cpp
  provider/pid_functions.cpp
  provider/module_names.cpp
  provider/pid_probes.cpp
  provider/profile.cpp
  provider/providers.cpp
  provider/rawtp.cpp
  provider/syscall.cpp
  provider/usdt.cpp)
dvm_alone(provider/kernel.cpp)
target_link_libraries(dvm_provider PUBLIC dvm_uprobe PRIVATE fmt::fmt)

# All of them, for what needs them together.
add_library(dvm_source INTERFACE)
target_link_libraries(dvm_source INTERFACE dvm_provider dvm_replay dvm_instrument_agent $<IF:$<BOOL:${DVM_BPF}>,dvm_breakpoint,dvm_absent>)
