# dvm_cost: the analytic model, what a script costs before it runs. Knows the DIF, the tables and the layout of records.
dvm_library(cost COLD
  cost/agent_cost.cpp
  cost/assumptions.cpp
  cost/model.cpp
  cost/paper.cpp
  cost/predict.cpp
  cost/record_shape.cpp
  cost/profile_file.cpp
  cost/rows.cpp
  cost/simulate.cpp
  cost/table_uses.cpp)
target_link_libraries(dvm_cost PUBLIC dvm_vm dvm_uprobe PRIVATE dvm_probe fmt::fmt nlohmann_json::nlohmann_json)

# dvm_runs: the model joined with probes and runs: where their firings come from, how often they fire, what a run counted.
dvm_library(runs COLD
  cost/runs/agent_ways.cpp
  cost/runs/firing_model.cpp
  cost/runs/ledger.cpp
  cost/runs/sample.cpp
  cost/runs/thread_parts.cpp)
target_link_libraries(dvm_runs PUBLIC dvm_cost dvm_session PRIVATE fmt::fmt)
dvm_alone(cost/runs/agent_ways.cpp)
