#pragma once
// Sessions that replay synthetic firings of one probe from a recording, through the whole runtime: from the instrument to the
// buffers, and from there to text, which is discarded.

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/or_throw.h"
#include "dvm/dif/option.h"
#include "dvm/dif/program.h"
#include "dvm/runtime/handle.h"
#include "lab/calibrate/quiet_polls.h"
#include "lab/noise/quiet_time.h"
#include "runtime/cost/rows.h"

namespace dvm::lab {

inline constexpr const char* kCalibratedProbe = "replay:::firing";
// Bytes of execname in the firings, with the NUL. Like most names, no multiple of a word: bytes after the last word cost most.
inline constexpr unsigned kExecnameBytes = 14;
// Size of a buffer of which half is read in less than a millisecond, a time for which a core is often quiet. It fits into the
// CPU's caches. Records in larger ones wait for memory, which no row prices.
inline constexpr const char* kReadAtOnce = "256k";
inline constexpr const char* kNotRead = "4m";     // of a buffer that no sample fills by half
inline constexpr double kTracedBytes = 24;        // of the record of a trace() of an integer, with its head
inline constexpr uint64_t kMostRecords = 40'000;  // that a sample prints

struct RunSettings {
  uint64_t firings = 0;
  unsigned memory = 0;  // bytes of a string at arg2 that is captured with each firing
  unsigned frames = 0;  // of the user stack
  vm::CostPolicy cost = vm::CostPolicy::none;
  runtime::EngineId engine = {};
  const char *bufsize = kReadAtOnce, *aggsize = "4m";
  bool is_quiet = true;
  bool is_read = true;   // by the consumer, at the end
  bool may_act = false;  // destructively
};

double event_bytes(const RunSettings& settings);  // of a firing in its recording

// A session that has begun to replay to the program: BEGIN has fired.
class MadeUpRun {
 public:
  MadeUpRun(const dif::Program& program, const RunSettings& settings);
  runtime::Handle& handle() { return *handle_; }
  // Reports what each piece has done, and the CPU time of its probe side in ns.
  void fire_all(const std::function<void(const RunClock& done, double probe)>& report = {});

 private:
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> nowhere_{std::fopen("/dev/null", "we"), std::fclose};
  std::unique_ptr<runtime::Handle> handle_;
};

using Settings = std::vector<std::pair<const char*, std::string>>;  // options and their values
// Throws an Error if one cannot be set.
void set_options(dif::Options& options, const Settings& settings);

// CPU time of a firing, in ns: of the probe side, and of the consumer, which reads half-full buffers and once more at the end.
struct ScriptSample {
  noise::QuietTime probe, consumer;
};
ScriptSample time_program(const dif::Program& program, const RunSettings& settings);

}  // namespace dvm::lab
