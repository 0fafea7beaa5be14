# dvm_agent: code in traced processes, and how it gets there. inside/fire.cpp is compiled by itself, with no option of the rest: it must have
# no data, call nothing, and use no vector register. A function that keeps all registers must not end with a jump to one that does not.
# Functions are aligned, as otherwise a change of one decides how fast others are.
set(DVM_INSIDE_CODE ${CMAKE_CURRENT_BINARY_DIR}/inside_code.bin)
set(inside ${CMAKE_CURRENT_SOURCE_DIR}/agent/inside)
add_custom_command(OUTPUT ${DVM_INSIDE_CODE}
  COMMAND ${CMAKE_CXX_COMPILER} -std=c++20 -O2 -I${CMAKE_SOURCE_DIR} -I${CMAKE_SOURCE_DIR}/vm/include -ffreestanding -fno-builtin -fpie -mgeneral-regs-only -mno-red-zone
    -fno-stack-protector -fcf-protection=none -fno-exceptions -fno-rtti -fasynchronous-unwind-tables -fno-jump-tables -fno-optimize-sibling-calls -falign-functions=64 -Wall -Wextra -Werror
    -nostdlib -static -Wl,-T,${inside}/fire.ld -Wl,--build-id=none -o inside_code.elf ${inside}/fire.cpp
  COMMAND ${CMAKE_OBJCOPY} -O binary inside_code.elf ${DVM_INSIDE_CODE}
  DEPENDS ${inside}/fire.cpp ${inside}/aggregate.h ${inside}/calls.h ${inside}/clause_record.h ${inside}/clause_steps.h ${inside}/ended.h ${inside}/frames.h ${inside}/enter.h ${inside}/lanes.h ${inside}/memory_calls.def ${inside}/memory_calls.h ${inside}/memory_functions.def ${inside}/read.h ${inside}/record.h ${inside}/restoring.h ${inside}/tail_calls.h ${inside}/semaphores.h ${inside}/steady.h ${inside}/steady_read.h ${inside}/taking.h ${inside}/tails.h ${inside}/texts.h ${inside}/time.h ${inside}/unwind.h ${inside}/watch.h ${inside}/watched.h ${inside}/format.h ${CMAKE_SOURCE_DIR}/vm/include/dvm/dif/shaped_update.h ${inside}/fire.ld
  COMMENT "Compiling the code that runs inside of traced processes" VERBATIM)

dvm_library(agent COLD
  agent/abandon.cpp
  agent/aborted_sequence.cpp
  agent/address_space.cpp
  agent/agent_mapping.cpp
  agent/agent_placing.cpp
  agent/agent_process.cpp
  agent/agent_removal.cpp
  agent/agent_site.cpp
  agent/agent_steady.cpp
  agent/aggregation_code.cpp
  agent/code_area.cpp
  agent/code_writes.cpp
  agent/detach.cpp
  agent/disturbed_jumps.cpp
  agent/file_data.cpp
  agent/fork_guard.cpp
  agent/frame_rows.cpp
  agent/guard.cpp
  agent/guard_regions.cpp
  agent/handler_watch.cpp
  agent/hidden_faults.cpp
  agent/inside_code.cpp
  agent/jump_locks.cpp
  agent/lane_code.cpp
  agent/lasting_memory.cpp
  agent/lookup_code.cpp
  agent/mapping_plan.cpp
  agent/memory.cpp
  agent/order_memory.cpp
  agent/other_jumps.cpp
  agent/patches.cpp
  agent/placing_lock.cpp
  agent/record_code.cpp
  agent/remote_calls.cpp
  agent/remote_room.cpp
  agent/semaphore_code.cpp
  agent/semaphores.cpp
  agent/signal_frames.cpp
  agent/site_code.cpp
  agent/site_groups.cpp
  agent/site_needs.cpp
  agent/site_room.cpp
  agent/stack_code.cpp
  agent/steady_choice.cpp
  agent/steady_memory.cpp
  agent/stopped_process.cpp
  agent/stub.cpp
  agent/suspects.cpp
  agent/tail_code.cpp
  agent/target_check.cpp
  agent/text_code.cpp
  agent/tracers.cpp
  agent/unfit_sites.cpp
  agent/unmap.cpp
  agent/unstopped.cpp)
add_custom_target(dvm_inside_code DEPENDS ${DVM_INSIDE_CODE})
add_dependencies(dvm_agent dvm_inside_code)
dvm_alone(agent/agent_mapping.cpp agent/agent_process.cpp agent/aggregation_code.cpp agent/code_area.cpp agent/code_writes.cpp agent/fork_guard.cpp agent/frame_rows.cpp agent/guard.cpp agent/inside_code.cpp agent/lane_code.cpp agent/lookup_code.cpp agent/patches.cpp agent/record_code.cpp agent/remote_calls.cpp agent/semaphore_code.cpp
  agent/remote_room.cpp agent/site_code.cpp agent/stack_code.cpp agent/stopped_process.cpp agent/tail_code.cpp agent/text_code.cpp)
set_source_files_properties(agent/inside_code.cpp PROPERTIES OBJECT_DEPENDS ${DVM_INSIDE_CODE}
  COMPILE_DEFINITIONS DVM_INSIDE_CODE="${DVM_INSIDE_CODE}" SKIP_PRECOMPILE_HEADERS ON)
target_link_libraries(dvm_agent PUBLIC dvm_code dvm_symbol PRIVATE fmt::fmt)
