#pragma once
// A program from anywhere in a session of its own: enabled, fired on, and read by the consumer, without processes or files.

#include <cstdio>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "dvm/runtime/handle.h"
#include "runtime/catalog/catalog.h"
#include "runtime/instrument/instrument.h"
#include "runtime/provider/providers.h"
#include "tests/fuzz/fuzz_support.h"

namespace dvm::fuzz {

// Fires each probe some times with arguments of all kinds, some captured memory, registers and a stack, then has nothing more.
class FewFirings final : public runtime::Instrument, public runtime::Replays {
 public:
  std::string_view name() const override { return "fuzz"; }
  std::string_view refusal(const runtime::Probe& probe) const override {
    return std::holds_alternative<runtime::InternalSite>(probe.site) ? "it fires in dvm itself" : "";
  }
  Status enable(std::span<const runtime::EnabledProbe> probes, std::vector<runtime::Refused>&) override {
    for (const runtime::EnabledProbe& each : probes) ids_.push_back(each.probe->id);
    return {};
  }
  Result<uint64_t> poll(runtime::EventSink& sink) override {
    uint64_t fired = 0;
    for (bool goes_on = true; goes_on && has_probes() && sink.has_buffers(kCpus[round_]); fired++) {
      goes_on = fire(sink, ids_[next_], round_);
      if (++next_ == ids_.size()) next_ = 0, round_++;
    }
    return fired;
  }
  bool finished() const override { return !has_probes(); }
  bool has_probes() const { return round_ < kTimes && !ids_.empty(); }
  runtime::Pacing pacing() const override { return {}; }
  uint64_t drops() const override { return 0; }
  void disable() override {}
  runtime::Abilities abilities() override { return {.replays = this}; }

 private:
  static constexpr unsigned kTimes = 3;
  static constexpr int32_t kCpus[kTimes] = {0, -1, 70};  // one that is here, one that cannot be, one of another machine

  bool fire(runtime::EventSink& sink, uint32_t id, unsigned round) {
    vm::Firing firing;
    firing.probe_id = id;
    firing.timestamp = now_ += 1000;
    firing.pid = 1 << 30;  // no process has this number, so late reads fail and nothing can be harmed
    firing.tid = static_cast<int32_t>(1 + round);
    firing.cpu = kCpus[round];
    firing.execname = "fuzz";
    firing.args = {round, 0x1000, 0x1004, ~uint64_t{0}, 0xffff800000000000};
    firing.memory = memory_;
    firing.registers = {1u << 16 | 1u << 19, registers_};
    firing.stack = std::span(stack_).first(round);
    return sink.fire(firing);
  }

  const std::byte bytes_[8] = {std::byte{'a'}, std::byte{'b'}, std::byte{0}, std::byte{0xff}};
  const vm::CapturedMemory memory_[2] = {{0x1000, bytes_, false}, {0x2000, bytes_, true}};
  const uint64_t registers_[2] = {0x401000, 0x7fff0000};
  const uint64_t stack_[3] = {0x401000, 0x402000, 0x1000};
  std::vector<uint32_t> ids_;
  size_t next_ = 0;     // in ids_
  unsigned round_ = 0;  // of kTimes
  uint64_t now_ = 0;
};

class File {
 public:
  File() : file_(open_memstream(&text_, &size_)) {}
  ~File() {
    std::fclose(file_);
    std::free(text_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  std::FILE* get() const { return file_; }

 private:
  char* text_ = nullptr;
  size_t size_ = 0;
  std::FILE* file_;
};

// What a script could set is small here: the input is about programs.
inline dif::Options small_options() {
  dif::Options options;
  for (const auto& [name, value] :
       {std::pair{"quiet", ""}, {"bufsize", "64k"}, {"aggsize", "64k"}, {"dynvarsize", "16k"}, {"strsize", "32"}})
    require(!!options.set(name, value), "the options of a fuzzer can be set");
  return options;
}

// Meant for pid$target, it finds the probes here.
inline dif::Program on_known_probes(dif::Program program) {
  for (dif::EcbDesc& clause : program.clauses)
    for (dif::ProbeDesc& probe : clause.probes)
      if (probe.provider == "pid$target") probe.provider = "pid1";
  return program;
}

// Until the instrument has no more to fire. True when the program ran, false when it was refused, for a reason.
inline bool run_to_the_end(runtime::Handle& handle, const dif::Program& program, const std::function<bool()>& has_more) {
  std::vector<runtime::Refused> refused;
  Status status = handle.enable(program);
  if (status) status = handle.go(refused);
  require(!!status || !status.error().message.empty(), "what is refused is refused for a reason");
  if (!status) return false;
  while (has_more() && handle.work()) continue;
  require(!!handle.stop(), "the end needs nothing that could fail");
  return true;
}

// Nothing destructive is ever allowed.
inline runtime::HandleConfig small_config(const File& out, const File& err) {
  runtime::HandleConfig config;
  config.options = small_options();
  config.out = out.get();
  config.err = err.get();
  return config;
}

inline void add_own_probes(runtime::Handle& handle) {
  for (auto& provider : runtime::make_providers()) handle.add_provider(std::move(provider));
  handle.discover({"dtrace", "", "", ""});
}

inline bool run_program(const dif::Program& program) {
  File out, err;
  runtime::Handle handle(small_config(out, err));
  add_own_probes(handle);
  for (const char* function : {"main", "work"})
    handle.catalog().add({0, "pid1", "a.out", function, "entry", runtime::UprobeSite{"a.out", 1, false, 1 << 30}});
  auto owned = std::make_unique<FewFirings>();
  const FewFirings& instrument = *owned;
  handle.add_instrument(std::move(owned));
  return run_to_the_end(handle, program, [&] { return instrument.has_probes(); });
}

}  // namespace dvm::fuzz
