# What becomes of a firing: a library for each folder. Up to dvm_probe it is what an agent in a traced process would link, nothing but
# the VM below it.
dvm_library(buffer
  buffer/aggregation_buffer.cpp
  buffer/cpu_buffers.cpp
  buffer/principal_buffer.cpp
  buffer/speculations.cpp)
target_link_libraries(dvm_buffer PUBLIC dvm_dif PRIVATE fmt::fmt)

dvm_library(plan
  plan/plan.cpp
  plan/plan_file.cpp)
target_link_libraries(dvm_plan PUBLIC dvm_buffer dvm_vm PRIVATE fmt::fmt)

dvm_library(probe
  probe/aggregate.cpp
  probe/body.cpp
  probe/enter.cpp probe/prepare.cpp)
target_link_libraries(dvm_probe PUBLIC dvm_plan dvm_vm PRIVATE fmt::fmt)

dvm_library(enabling
  enabling/enabling.cpp)
target_link_libraries(dvm_enabling PUBLIC dvm_probe PRIVATE fmt::fmt)

foreach(library dvm_buffer dvm_plan dvm_probe dvm_enabling)
  dvm_align_code(${library})
endforeach()

dvm_library(backend_local COLD
  backend/local/fire_memory.cpp
  backend/local/firing_path.cpp
  backend/local/global_uses.cpp
  backend/local/globals_of_threads.cpp
  backend/local/instruments.cpp
  backend/local/live.cpp
  backend/local/local_backend.cpp
  backend/local/single_use.cpp
  backend/local/site_clauses.cpp)
target_link_libraries(dvm_backend_local PUBLIC dvm_enabling dvm_source PRIVATE fmt::fmt)

dvm_library(consumer COLD
  consumer/aggregation.cpp
  consumer/aggregation_metrics.cpp
  consumer/aggregation_table.cpp
  consumer/consumer.cpp
  consumer/datum.cpp
  consumer/errors.cpp
  consumer/field.cpp
  consumer/flow.cpp
  consumer/histogram.cpp
  consumer/json_printer.cpp
  consumer/json_text.cpp
  consumer/json_value.cpp
  consumer/keys.cpp
  consumer/made.cpp
  consumer/metrics.cpp
  consumer/output.cpp
  consumer/printa.cpp
  consumer/printf.cpp
  consumer/record_copies.cpp
  consumer/record_merge.cpp
  consumer/row_table.cpp
  consumer/text_printer.cpp
  consumer/trace_events.cpp
  consumer/typed.cpp)
target_link_libraries(dvm_consumer PUBLIC dvm_enabling dvm_symbol PRIVATE fmt::fmt nlohmann_json::nlohmann_json)

dvm_library(session COLD
  session/accounting.cpp
  session/collector.cpp
  session/demangled_probes.cpp
  session/enabled_probes.cpp
  session/exports.cpp
  session/handle.cpp
  session/late_memory.cpp
  session/late_probes.cpp
  session/loop.cpp
  session/placements.cpp
  session/probing.cpp
  session/translations.cpp
  session/untraced_children.cpp)
target_link_libraries(dvm_session PUBLIC dvm_backend_local dvm_consumer PRIVATE fmt::fmt)

# The whole runtime, for programs.
add_library(dvm_runtime INTERFACE)
target_link_libraries(dvm_runtime INTERFACE dvm_session)
