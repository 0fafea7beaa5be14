// Tested by tests/runtime/scenarios/test_trace_events.py.

#include "runtime/consumer/trace_events.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "dvm/dif/leaves_record.h"
#include "runtime/consumer/json_printer.h"
#include "runtime/consumer/json_value.h"

namespace dvm::runtime {
namespace {

constexpr size_t kMostText = 4096;          // bytes of one firing
constexpr size_t kMostUnwritten = 1 << 16;  // bytes of events that wait to be written together
constexpr uint64_t kWrite = 200'000'000;    // ns after which they are written, however few
constexpr std::string_view kSyscallProvider = "syscall";
constexpr size_t kMostOpen = 1000;  // functions that a thread is in, as slices

std::string dumped(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

// The array need not be closed: what a killed dvm leaves can be opened. So whole events reach the file together.
void TraceEvents::write(const std::string& event) {
  unwritten_ += is_first_ ? "[\n" : ",\n";
  unwritten_ += event;
  is_first_ = false;
  if (unwritten_.size() < kMostUnwritten && held_.time - written_at_ < kWrite) return;
  written_at_ = held_.time;
  flush();
}

// By one system call: stdio would make two, and a SIGKILL between them would cut an event. Where it is refused, stdio notes why.
void TraceEvents::flush() {
  const ssize_t size = ::write(fileno(file_), unwritten_.data(), unwritten_.size());
  const size_t written = size > 0 ? static_cast<size_t>(size) : 0;
  std::fwrite(unwritten_.data() + written, 1, unwritten_.size() - written, file_);
  std::fflush(file_);
  unwritten_.clear();
}

bool TraceEvents::is_held(const RecordCopy& copy) const {
  return held_.probe == copy.probe && held_.pid == copy.pid && held_.tid == copy.tid && held_.time == copy.time;
}

// Clauses on the same probe each leave a record of the same firing.
void TraceEvents::read(RecordCopy copy) {
  if (!is_held(copy)) {
    write_firing();
    held_ = std::move(copy);
  } else {
    held_.text += copy.text;
  }
  if (held_.text.size() > kMostText) held_.text.resize(kMostText);
}

void TraceEvents::write_name(const char* kind) {
  const auto [pid, tid] = thread();
  write(dumped({{"ph", "M"}, {"name", kind}, {"pid", pid}, {"tid", tid}, {"args", {{"name", held_.name}}}}));
}

void TraceEvents::name_thread() {
  std::string& known = names_[thread()];
  if (known == held_.name) return;
  known = held_.name;
  const auto [pid, tid] = thread();
  // The first thread names the process, and until it is heard of, another.
  const bool is_new = processes_.insert(pid).second;
  if (is_new || pid == tid) write_name("process_name");
  write_name("thread_name");
}

const std::string& TraceEvents::quoted(const std::string& name) {
  const auto [known, is_new] = quoted_.try_emplace(name);
  if (is_new) known->second = dumped(name);
  return known->second;
}

void TraceEvents::write_event(const char* phase, const std::string& name, bool with_text) {
  const auto [pid, tid] = thread();
  std::string event =
      fmt::format(R"({{"ph":"{}","name":{},"cat":{},"pid":{},"tid":{},"ts":{}.{:03})", phase, quoted(name),
                  quoted(held_.probe->provider), pid, tid, held_.time / 1000, held_.time % 1000);  // us, not rounded
  if (*phase == 'i') event += R"(,"s":"t")";                                                       // on the track of its thread
  if (with_text && !held_.text.empty()) event += fmt::format(R"(,"args":{{"text":{}}})", dumped(held_.text));
  write(event += '}');
}

// Closes the functions above it too, whose returns were lost. A function that was entered before tracing has no slice.
void TraceEvents::write_return() {
  auto& [functions, deeper] = open_[thread()];
  const std::string& name = held_.probe->function;
  if (deeper > 0) return deeper--, write_event("i", name + ":return");
  const auto entered = std::find_if(functions.rbegin(), functions.rend(), [&](const Slice& slice) { return slice.name == name; });
  if (entered == functions.rend()) return write_event("i", name + ":return");
  for (auto inner = functions.rbegin(); inner != entered; ++inner) write_event("E", inner->name, false);
  write_event("E", name);
  functions.erase(std::prev(entered.base()), functions.end());
}

// A thread that begins another system call, or runs a function of its program, is no longer in one. The return was lost, or never
// fires, as that of rt_sigreturn.
void TraceEvents::end_system_call(Open& open) {
  const std::string& provider = held_.probe->provider;
  const bool is_in_program = provider == kSyscallProvider || provider.starts_with("pid");
  if (!is_in_program || open.deeper > 0 || open.functions.empty() || !open.functions.back().is_system_call) return;
  write_event("E", open.functions.back().name, false);
  open.functions.pop_back();
}

void TraceEvents::write_entry() {
  Open& open = open_[thread()];
  const std::string& name = held_.probe->function;
  end_system_call(open);
  if (open.functions.size() == kMostOpen) return open.deeper++, write_event("i", name + ":entry");
  open.functions.push_back({name, held_.probe->provider == kSyscallProvider});
  write_event("B", name);
}

// Probes may be added while tracing goes on, behind those that are there.
bool TraceEvents::records_return_of(const Probe& entry) {
  const auto [known, is_new] = is_paired_.try_emplace(&entry);
  if (!is_new) return known->second;
  const auto function_of = [](const Probe& probe) { return Function{probe.provider, probe.module, probe.function}; };
  const auto records = [](const Ecb* ecb) { return leaves_record(ecb->plan->desc); };
  for (; looked_at_ < enabling_.probes().size(); looked_at_++) {
    const ProbeEcbs& one = enabling_.probes()[looked_at_];
    if (one.probe->name == "return" && std::any_of(one.ecbs.begin(), one.ecbs.end(), records))
      returning_.insert(function_of(*one.probe));
  }
  return known->second = returning_.contains(function_of(entry));
}

void TraceEvents::write_firing() {
  if (held_.probe == nullptr) return;
  const Probe& probe = *held_.probe;
  name_thread();
  if (probe.name == "entry" && records_return_of(probe)) {
    write_entry();
  } else if (probe.name == "return") {
    write_return();
  } else {
    write_event("i", probe.function.empty() ? probe.name : probe.function + ":" + probe.name);
  }
}

void TraceEvents::end_records() {
  write_firing();
  held_.probe = nullptr;
  unwritten_ += is_first_ ? "[\n]\n" : "\n]\n";
  flush();
}

}  // namespace dvm::runtime
