# dvm_probe: ECBs, the ECB loop and the buffers; what an agent in a traced process would link, nothing but the VM below it.
dvm_library(probe
  buffer/aggregation_buffer.cpp
  buffer/cpu_buffers.cpp
  buffer/principal_buffer.cpp
  buffer/speculations.cpp
  enabling/enabling.cpp
  plan/plan.cpp
  plan/plan_file.cpp
  probe/aggregate.cpp
  probe/prepare.cpp)
target_link_libraries(dvm_probe PUBLIC dvm_vm PRIVATE fmt::fmt)
dvm_align_code(dvm_probe)

# dvm_backend_local: instruments, and the ECB loop on what they deliver.
dvm_library(backend_local
  backend/local/fire_memory.cpp
  backend/local/firing_path.cpp
  backend/local/instruments.cpp
  backend/local/live.cpp
  backend/local/local_backend.cpp)
target_link_libraries(dvm_backend_local PUBLIC dvm_probe dvm_source PRIVATE fmt::fmt)

# dvm_runtime: the consumer and the handle that joins all of it.
dvm_library(runtime
  consumer/aggregation.cpp
  consumer/aggregation_table.cpp
  consumer/consumer.cpp
  consumer/datum.cpp
  consumer/errors.cpp
  consumer/field.cpp
  consumer/flow.cpp
  consumer/histogram.cpp
  consumer/json_printer.cpp
  consumer/json_value.cpp
  consumer/keys.cpp
  consumer/made.cpp
  consumer/output.cpp
  consumer/printa.cpp
  consumer/printf.cpp
  consumer/record_merge.cpp
  consumer/row_table.cpp
  consumer/text_printer.cpp
  consumer/typed.cpp
  session/accounting.cpp
  session/collector.cpp
  session/demangled_probes.cpp
  session/enabled_probes.cpp
  session/handle.cpp
  session/late_probes.cpp
  session/loop.cpp
  session/placements.cpp
  session/probing.cpp)
target_link_libraries(dvm_runtime PUBLIC dvm_backend_local PRIVATE fmt::fmt nlohmann_json::nlohmann_json)
