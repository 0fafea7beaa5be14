# dvm_cost: the analytic model, what a script costs before it runs. Knows the DIF and the tables, no probe and no process.
dvm_library(cost
  cost/calibrate/dif_cases.cpp
  cost/calibrate/dif_meter.cpp
  cost/calibrate/middle.cpp
  cost/calibrate/series_book.cpp
  cost/capture_cost.cpp
  cost/core_speed.cpp
  cost/dynamic_uses.cpp
  cost/table_uses.cpp
  cost/machine.cpp
  cost/model.cpp
  cost/paper.cpp
  cost/predict.cpp
  cost/profile_file.cpp
  cost/quiet_time.cpp
  cost/rows.cpp
  cost/simulate.cpp
  cost/speculated.cpp)
target_link_libraries(dvm_cost PUBLIC dvm_vm dvm_needs PRIVATE fmt::fmt nlohmann_json::nlohmann_json)

# dvm_calibrate: fills a profile by running things here.
dvm_library(calibrate
  cost/ledger.cpp
  cost/calibrate/account_meter.cpp
  cost/calibrate/action_meter.cpp
  cost/calibrate/consumer_meter.cpp
  cost/calibrate/capture_meter.cpp
  cost/calibrate/process_meter.cpp
  cost/calibrate/live_meter.cpp
  cost/calibrate/live_run.cpp
  cost/calibrate/looping_child.cpp
  cost/calibrate/made_up_recording.cpp
  cost/calibrate/rest_meter.cpp
  cost/calibrate/ring_meter.cpp
  cost/calibrate/row_measurement.cpp
  cost/calibrate/script_cases.cpp
  cost/calibrate/script_meter.cpp
  cost/calibrate/table_meter.cpp
  cost/firing_model.cpp
  cost/measured.cpp
  cost/record_room.cpp
  cost/sample.cpp
  cost/site_sources.cpp
  cost/timer_rates.cpp
  cost/validate.cpp
  cost/validate/bpftrace_peer.cpp
  cost/validate/live_rows.cpp
  cost/validate/live_validation.cpp
  cost/apart.cpp
  cost/quiet_looks.cpp
  cost/run_clock.cpp
  cost/validate/simulation_check.cpp
  cost/validate/traced_job.cpp
  cost/validate/workload_child.cpp)
target_link_libraries(dvm_calibrate PUBLIC dvm_cost dvm_runtime PRIVATE fmt::fmt)
