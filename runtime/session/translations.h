#pragma once
// Option engine=auto: clauses start on the interpreter. A clause is translated to machine code when it has cost as much time as
// the translation takes. Both times are measured: firings by the ECB loop (runtime/probe/runs.h), translations by the translator
// thread. dvm's own thread installs the code between two polls, and never waits for a lock. So no firing waits for a translation.
//
//   take_up() ── a clause has cost enough ──> translator thread ── code ──> take_up(): the clause's ECBs run it
//
// A clause whose translation fails stays on the interpreter.

#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/clock.h"
#include "dvm/runtime/handle.h"
#include "dvm/vm/cost.h"
#include "runtime/backend/backend.h"
#include "runtime/enabling/enabling.h"
#include "runtime/plan/translation_price.h"

namespace dvm::runtime {

class Translations {
 public:
  Translations(const HandleConfig& config, Enabling& enabling, const BackendList& backends)
      : config_(config), enabling_(enabling), backends_(backends) {}
  ~Translations();

  // Installs finished translations, and requests further ones. Between two polls.
  void take_up();
  // The first reason why a clause stays on the interpreter. It is returned once.
  std::string take_problem();
  // Why a clause could not be translated; empty: it could, or it has not cost enough yet.
  std::string problem(unsigned clause) const;
  // Firings of an ECB before its clause became machine code; 0: it did not.
  uint64_t interpreted(Epid epid) const { return epid <= interpreted_.size() ? interpreted_[epid - 1] : 0; }

 private:
  struct Made {
    const EcbPlan* plan;
    EcbCode code;
  };

  void keep_off() const;
  void take_made();
  void add_up_runs();
  void note_firings(const EcbPlan& plan);
  bool pays(const EcbPlan& plan, const EcbRuns& runs) const;
  void ask_for_costly();
  void ask_for(const EcbPlan& plan);
  bool start_thread(const EcbPlan& plan);
  double ns_per_tick() const;
  void work();
  EcbCode translate(const EcbPlan& plan, TranslationPrice& price) const;

  const HandleConfig& config_;
  Enabling& enabling_;
  const BackendList& backends_;
  std::vector<bool> is_asked_for_;            // by clause
  std::vector<EcbRuns> runs_;                 // by EPID - 1, in all backends
  std::vector<EcbRuns> costs_;                // by clause
  std::vector<uint64_t> interpreted_;         // by EPID - 1
  std::map<unsigned, std::string> problems_;  // by clause
  bool has_told_ = false;                     // take_problem() has returned one

  const uint64_t began_at_ = vm::read_ticks();
  const MonotonicTime began_ = read_clock(CLOCK_MONOTONIC);
  const double clock_ticks_ = static_cast<double>(vm::calibrate_ticks());
  TranslationPrice price_;  // at the last take_made()

  std::thread thread_;
  const pid_t dvm_ = gettid();  // dvm's own thread
  std::atomic<int> here_ = -1;  // its CPU at its last poll
  cpu_set_t allowed_ = {};      // CPUs of the translator thread
  std::atomic<bool> has_made_ = false;
  std::mutex mutex_;  // guards what is below
  std::condition_variable wake_;
  std::deque<const EcbPlan*> asked_for_;
  std::vector<Made> made_;
  TranslationPrice measured_;
  bool is_ending_ = false;
};

}  // namespace dvm::runtime
