#pragma once
// Records as trace events, in the JSON that Perfetto and Chrome's viewer open: a track for each thread, a slice from a function's
// entry to its return, a mark for every other firing. What the actions print is shown as the argument `text`.

#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/consumer/record_copies.h"

namespace dvm::runtime {

class TraceEvents final : public RecordReader {
 public:
  explicit TraceEvents(std::FILE* file) : file_(file) {}

  void read(RecordCopy copy) override;
  void end_records() override;

 private:
  using Thread = std::pair<int32_t, int32_t>;  // pid, tid

  Thread thread() const { return {held_.pid, held_.tid}; }
  bool is_held(const RecordCopy& copy) const;
  void write_firing();
  void write_event(const char* phase, const std::string& name, bool with_text = true);
  void write_return();
  void name_thread();
  void write_name(const char* kind);
  void write(const std::string& event);

  std::FILE* file_;
  RecordCopy held_;                                  // the firing whose records are still arriving; without a probe: none
  std::map<Thread, std::vector<std::string>> open_;  // functions that each thread is in
  std::map<Thread, std::string> names_;
  std::set<int32_t> processes_;  // that have a name
  bool is_first_ = true;
};

}  // namespace dvm::runtime
