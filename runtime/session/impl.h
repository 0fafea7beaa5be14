#pragma once
// The session behind a Handle: backends, enabling and consumer, joined in one thread.
//
// - handle.cpp        opens, enables, starts and stops
// - loop.cpp          waits, polls, and works at the rates
// - probing.h         turns probe descriptions into probes that are on
// - late_probes.h     handles files that are mapped while tracing, and processes that fork
// - collector.h       moves data from the backends' buffers to the output
// - accounting.h      sums up the cost
// - placements.h      says where clauses run
// - translations.h    replaces the interpreter by machine code
// - drop_reports.h    reports losses
// - exports.h         makes snapshots for exporters
// - pacer.h, wake.h   decide how long to wait, and end the wait

#include <algorithm>
#include <memory>

#include "dvm/runtime/handle.h"
#include "runtime/backend/local/local_backend.h"
#include "runtime/backend/rate.h"
#include "runtime/consumer/consumer.h"
#include "runtime/enabling/enabling.h"
#include "runtime/session/accounting.h"
#include "runtime/session/collector.h"
#include "runtime/session/drop_reports.h"
#include "runtime/session/exports.h"
#include "runtime/session/late_probes.h"
#include "runtime/session/pacer.h"
#include "runtime/session/probing.h"
#include "runtime/session/translations.h"
#include "runtime/session/wake.h"

namespace dvm::runtime {

struct Handle::Impl {
  explicit Impl(HandleConfig c);

  HandleConfig config;
  Catalog catalog;
  Enabling enabling;
  Consumer consumer;
  BackendList backends;  // the last is local
  LocalBackend& local;   // for instruments that are added

  Probing probing{config, catalog, enabling, consumer, backends};
  LateProbes late{probing, catalog, enabling, consumer, backends};
  Accounting accounting{enabling, backends};
  Collector collector{consumer, backends, accounting.stages()};
  DropReports drop_reports{consumer};
  Exports exports{config, enabling, consumer, backends, accounting};
  Translations translations{config, enabling, backends};
  Pacer pacer;
  Wake wake;
  Rate switching, aggregating, reporting;
  bool is_running = false, is_stopped = false;
  MonotonicTime drain_ends = 0;  // after an interrupt
  bool drops_rest = false;       // that time has passed
  Status failure;                // the first

  bool accounts() const { return config.cost != vm::CostPolicy::none; }
  Status turn_on(std::vector<Refused>& refused);
  void turn_off();
  std::shared_ptr<void> show_end(const char* what) const;
  void start_rates();
  void tell_notes();
  void tell_engine_problem();
  void tell_untraced_children();
  void tell_interpreted(const std::string& problem) { consumer.notice("clauses run on the interpreter: " + problem); }
  Drops drops();

  MonotonicTime next_rate() const { return std::min({switching.next(), aggregating.next(), reporting.next()}); }
  bool has_ended() const;
  bool is_done() const { return wake.is_interrupted() || has_ended(); }
  bool are_finished() const;
  void fail(const Status& status);
  uint64_t poll_backends();
  Polled poll_one(Backend& backend);
  void fire_overdue();
  bool poll();
  void wait(MonotonicTime until);
  void work_at_rates(MonotonicTime now);
  void drain();
  void limit_drain();
};

}  // namespace dvm::runtime
