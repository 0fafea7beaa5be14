# dvm_cost: the analytic model, what a script costs before it runs. Knows the DIF and the tables, no probe and no process.
dvm_library(cost
  cost/capture_cost.cpp
  cost/dynamic_uses.cpp
  cost/machine.cpp
  cost/model.cpp
  cost/paper.cpp
  cost/predict.cpp
  cost/profile_file.cpp
  cost/rows.cpp
  cost/simulate.cpp
  cost/speculated.cpp
  cost/table_uses.cpp)
target_link_libraries(dvm_cost PUBLIC dvm_vm dvm_needs PRIVATE fmt::fmt nlohmann_json::nlohmann_json)

# dvm_runs: the model joined with probes and runs: where their firings come from, how often they fire, what a run counted.
dvm_library(runs
  cost/firing_model.cpp
  cost/ledger.cpp
  cost/measured.cpp
  cost/record_room.cpp
  cost/sample.cpp
  cost/site_sources.cpp
  cost/timer_rates.cpp)
target_link_libraries(dvm_runs PUBLIC dvm_cost dvm_runtime PRIVATE fmt::fmt)
