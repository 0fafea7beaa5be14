#pragma once
// Times programs on made-up firings, through all of the runtime: from the instrument to the buffers, and from there to the text.

#include <cstdio>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>

#include "common/result.h"
#include "dvm/dif/option.h"
#include "dvm/dif/program.h"
#include "dvm/vm/cost.h"
#include "dvm/vm/profile.h"
#include "lab/calibrate/bench.h"
#include "lab/calibrate/script_cases.h"
#include "lab/noise/quiet_time.h"
#include "lab/noise/series_book.h"

namespace dvm::runtime {

// The probe that firings are of.
inline constexpr const char* kCalibratedProbe = "replay:::firing";

// Size of a buffer of which half is read in less than a millisecond: for so long a core is quiet more often than for a long time.
// It lies in the caches of a CPU. Records in a larger one wait for memory, unless their clause does enough besides; of that no
// row knows.
inline constexpr const char* kReadAtOnce = "256k";
// Of one that no sample fills by half.
inline constexpr const char* kNotRead = "4m";
inline constexpr double kTracedBytes = 24;        // of the record of a trace() of an integer, its head included
inline constexpr uint64_t kMostRecords = 40'000;  // that a sample prints

// Of a run of made-up firings.
struct RunSettings {
  uint64_t firings = 0;
  unsigned memory = 0;  // as MadeUpRecording has it
  unsigned frames = 0;  // likewise
  vm::CostPolicy cost = vm::CostPolicy::none;
  const char *bufsize = kReadAtOnce, *aggsize = "4m";
  bool is_quiet = true;
  bool is_read = true;   // by the consumer, at the end
  bool may_act = false;  // destructively
  unsigned rested = 0;   // batches of a replay, the last ones: before each the thread sleeps as dvm does between two looks, and
                         // only they are timed; 0: all are, and it never sleeps
};

// What a piece of a run took, in ns of CPU time.
struct RunPiece {
  double events = 0, reads = 0;    // reads: of buffers, by the consumer
  double probe = 0, consumer = 0;  // without reading the recording and writing the output
};

class Handle;
class MadeUpRecording;
// A session that replays so many made-up firings to the program, begun: BEGIN has fired. Its output goes nowhere.
class MadeUpRun {
 public:
  static Result<std::unique_ptr<MadeUpRun>> make(const dif::Program& program, const RunSettings& settings);
  ~MadeUpRun();
  Handle& handle() { return *handle_; }
  const MadeUpRecording& recording() const { return *recording_; }
  // In pieces, of which each is told. before: of each, how many firings are left.
  void fire_all(const std::function<void(const RunPiece&)>& told = {}, const std::function<void(uint64_t)>& before = {});

 private:
  MadeUpRun(std::shared_ptr<const MadeUpRecording> recording, uint64_t firings);
  std::shared_ptr<const MadeUpRecording> recording_;
  uint64_t firings_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> nowhere_;
  std::unique_ptr<Handle> handle_;
};

Status set_options(dif::Options& options, std::initializer_list<std::pair<const char*, const char*>> settings);

// The text with the calibrated probe for each P before a body or a predicate.
std::string with_probe(std::string text);

// Nanoseconds a firing of the probe side and of the consumer, which reads a buffer whenever half of it is full and at the end;
// reading the recording's file is in neither. Of CPU time: a sample is long enough for other threads to get in.
struct ScriptSample {
  noise::QuietTime probe, consumer;
  double event_bytes = 0;  // of the recording, a firing
};
Result<ScriptSample> time_program(const dif::Program& program, const RunSettings& settings);

// Adds the price of the case's row to the profile, which has those of the rows that it needs.
Status measure_script(const ScriptCase& one, const CompileScript& compile, const ScriptMeterOptions& options,
                      vm::Profile& profile);

}  // namespace dvm::lab
