#pragma once
// A session for tests: programs built by hand, probes that the test fires itself, and the output as two strings.

#include <gtest/gtest.h>

#include <cstdio>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dvm/runtime/handle.h"
#include "runtime/catalog/catalog.h"
#include "runtime/instrument/instrument.h"
#include "runtime/provider/providers.h"
#include "tests/unit/runtime/programs.h"

namespace dvm::runtime::test {

// Fires what the test put into `firings`, once each; finished when all have fired, unless more may come.
class ManualInstrument final : public Instrument, public Replays, public WatchesLoads {
 public:
  std::deque<vm::Firing> firings;
  std::optional<ClauseFiring> clause;  // of all of them; none: they are of all clauses
  uint64_t lost = 0;
  bool has_more = false;
  bool has_loaded = false;  // the next question finds files that were mapped
  std::function<void()> behind_question;
  int settled = 0;
  std::string_view name() const override { return "manual"; }
  std::string_view refusal(const Probe& probe) const override {
    return std::holds_alternative<UprobeSite>(probe.site) ? "" : "another kind of site";
  }
  Status enable(std::span<const EnabledProbe>, std::vector<Refused>&) override { return {}; }
  Result<uint64_t> poll(EventSink& sink) override {
    uint64_t count = 0;
    for (bool goes_on = true; goes_on && !firings.empty() && sink.has_buffers(firings.front().cpu); count++) {
      goes_on = clause ? sink.fire_clause(firings.front(), *clause) : sink.fire(firings.front());
      firings.pop_front();
    }
    return count;
  }
  bool finished() const override { return firings.empty() && !has_more; }
  Pacing pacing() const override { return {}; }
  uint64_t drops() const override { return lost; }
  Status watch(const LinkerSite&) override { return {}; }
  std::vector<LoadedIn> take_loads() override {
    const bool is_told = std::exchange(has_loaded, false);
    if (behind_question) std::exchange(behind_question, nullptr)();
    return is_told ? std::vector<LoadedIn>{{1, 1}} : std::vector<LoadedIn>();
  }
  void settle() override { settled++; }
  void disable() override {}
  Abilities abilities() override { return {.watches = this, .replays = this}; }
};

class Session {
 public:
  explicit Session(vm::CostPolicy cost = vm::CostPolicy::none) {
    config_.out = open_memstream(&out_, &out_size_);
    config_.err = open_memstream(&err_, &err_size_);
    config_.cost = cost;
    set("quiet");
  }
  ~Session() {
    handle_.reset();
    std::fclose(config_.out);
    std::fclose(config_.err);
    std::free(out_);
    std::free(err_);
  }

  Session& set(std::string_view option, std::string_view value = "") {
    EXPECT_TRUE(config_.options.set(option, value));
    return *this;
  }
  Session& loud() {
    EXPECT_TRUE(config_.options.set("quiet", "off"));
    return *this;
  }
  Session& translate_at_once() {
    config_.translates_at_once = true;
    return *this;
  }
  Session& show_end(std::function<std::shared_ptr<void>(const char*)> show) {
    config_.show_end = std::move(show);
    return *this;
  }
  Handle& handle() {
    if (!handle_) {
      handle_ = std::make_unique<Handle>(config_);
      for (auto& provider : make_providers()) handle_->add_provider(std::move(provider));
      handle_->discover({"dtrace", "", "", ""});
      auto instrument = std::make_unique<ManualInstrument>();
      instrument_ = instrument.get();
      handle_->add_instrument(std::move(instrument));
    }
    return *handle_;
  }
  ManualInstrument& instrument() { return handle(), *instrument_; }
  // A probe that fire() can fire.
  uint32_t add_probe(const std::string& function, const std::string& name) {
    return handle().catalog().add({0, "pid1", "a.out", function, name, UprobeSite{"a.out", 1, false, 1}}).id;
  }
  void fire(uint32_t probe, decltype(vm::Firing::args) args = {}, int32_t cpu = 0) {
    vm::Firing firing;
    firing.probe_id = probe;
    firing.pid = firing.tid = 1;
    firing.cpu = cpu;
    firing.args = args;
    instrument().firings.push_back(firing);
  }

  // Runs the program to its end. Fails the test if it cannot start.
  Session& run(std::vector<dif::EcbDesc> clauses, std::vector<dif::AggregationDesc> aggregations = {}) {
    EXPECT_EQ(start(std::move(clauses), std::move(aggregations)), "");
    if (!::testing::Test::HasFailure())
      while (handle().work()) {
      }
    Status status = handle().stop();
    EXPECT_TRUE(status) << status.error().message;
    return *this;
  }
  // The error of enable() or go(), empty if there is none.
  std::string start(std::vector<dif::EcbDesc> clauses, std::vector<dif::AggregationDesc> aggregations = {}) {
    dif::Program program;
    program.clauses = std::move(clauses);
    program.aggregations = std::move(aggregations);
    return start(program);
  }
  std::string start(const dif::Program& program) {
    if (Status status = handle().enable(program); !status) return status.error().message;
    std::vector<Refused> refused;
    if (Status status = handle().go(refused); !status) return status.error().message;
    return "";
  }
  std::string out() { return std::fflush(config_.out), std::string(out_, out_size_); }
  std::string err() { return std::fflush(config_.err), std::string(err_, err_size_); }

 private:
  HandleConfig config_;
  std::unique_ptr<Handle> handle_;
  ManualInstrument* instrument_ = nullptr;
  char* out_ = nullptr;
  char* err_ = nullptr;
  size_t out_size_ = 0, err_size_ = 0;
};

}  // namespace dvm::runtime::test
