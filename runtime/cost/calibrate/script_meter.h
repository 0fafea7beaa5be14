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
#include "runtime/cost/calibrate/script_cases.h"

namespace dvm::runtime {

// The probe that firings are of.
inline constexpr const char* kCalibratedProbe = "replay:::firing";

struct ScriptMeterOptions {
  unsigned samples = 7;       // of each of the two scripts
  uint64_t firings = 40'000;  // a sample
  bool is_read = true;        // by the consumer, afterwards
  bool may_act = false;       // destructively
};

class Handle;
class MadeUpRecording;
// A session that replays so many made-up firings to the program, begun: BEGIN has fired. Its output goes nowhere.
class MadeUpRun {
 public:
  // memory: as MadeUpRecording has it.
  static Result<std::unique_ptr<MadeUpRun>> make(const dif::Program& program, uint64_t firings, vm::CostPolicy cost,
                                                 unsigned memory = 0, const char* aggsize = "4m", bool may_act = false);
  ~MadeUpRun();
  Handle& handle() { return *handle_; }
  const MadeUpRecording& recording() const { return *recording_; }
  void fire_all();

 private:
  explicit MadeUpRun(std::shared_ptr<const MadeUpRecording> recording);
  std::shared_ptr<const MadeUpRecording> recording_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> nowhere_;
  std::unique_ptr<Handle> handle_;
};

Status set_options(dif::Options& options, std::initializer_list<std::pair<const char*, const char*>> settings);

// The text with the calibrated probe for each P before a body or a predicate.
std::string with_probe(std::string text);

// Nanoseconds a firing of the probe side and of the consumer. Of CPU time: a sample is long enough for other threads to get in.
struct ScriptSample {
  double probe = 0, consumer = 0;
  double event_bytes = 0;  // of the recording, a firing
};
Result<ScriptSample> time_program(const dif::Program& program, uint64_t firings, unsigned memory = 0,
                                  vm::CostPolicy cost = vm::CostPolicy::none, bool is_read = true, bool may_act = false);

using CompileScript = std::function<Result<dif::Program>(const std::string& text)>;

// Adds the price of the case's row to the profile, which has those of the rows that it needs.
Status measure_script(const ScriptCase& one, const CompileScript& compile, const ScriptMeterOptions& options,
                      vm::Profile& profile);

// What is left of a firing that counts: the source replay.
Status measure_replay(const CompileScript& compile, const ScriptMeterOptions& options, vm::Profile& profile);

}  // namespace dvm::runtime
