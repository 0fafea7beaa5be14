#pragma once
// Writes records as trace events, the JSON that Perfetto and Chrome's viewer open. A thread has a track. A call has a slice from
// the entry of the function to its return, if some clause records the return. Every other firing has a mark. The argument `text`
// is the text that the actions print.

#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/consumer/record_copies.h"
#include "runtime/enabling/enabling.h"

namespace dvm::runtime {

class TraceEvents final : public RecordReader {
 public:
  TraceEvents(std::FILE* file, const Enabling& enabling) : file_(file), enabling_(enabling) {}

  void read(RecordCopy copy) override;
  void end_records() override;

 private:
  using Thread = std::pair<int32_t, int32_t>;                          // pid, tid
  using Function = std::tuple<std::string, std::string, std::string>;  // provider, module, function

  struct Slice {
    std::string name;
    bool is_system_call;
  };
  // The functions in which a thread is, outermost first, and the number of further ones without a slice.
  struct Open {
    std::vector<Slice> functions;
    uint64_t deeper = 0;
  };

  Thread thread() const { return {held_.pid, held_.tid}; }
  bool is_held(const RecordCopy& copy) const;
  bool records_return_of(const Probe& entry);
  void write_firing();
  void write_event(const char* phase, const std::string& name, bool with_text = true);
  const std::string& quoted(const std::string& name);
  void write_entry();
  void end_system_call(Open& open);
  void write_return();
  void name_thread();
  void write_name(const char* kind);
  void write(const std::string& event);
  void flush();

  std::FILE* file_;
  const Enabling& enabling_;
  size_t looked_at_ = 0;                              // probes of enabling_
  std::set<Function> returning_;                      // functions of these probes whose returns leave records
  std::unordered_map<const Probe*, bool> is_paired_;  // entries: whether returning_ has their function
  RecordCopy held_;                                   // the firing whose records are still arriving; without a probe: none
  std::map<Thread, Open> open_;
  std::map<Thread, std::string> names_;
  std::unordered_map<std::string, std::string> quoted_;  // names of functions and providers as JSON
  std::set<int32_t> processes_;                          // that have a name
  bool is_first_ = true;
  std::string unwritten_;
  uint64_t written_at_ = 0;  // timestamp of the firing
};

}  // namespace dvm::runtime
