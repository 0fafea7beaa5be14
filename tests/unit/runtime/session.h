#pragma once
// A session for tests: programs built by hand from DIF text, probes that the test fires itself, and the output as two strings.

#include <gtest/gtest.h>

#include <cstdio>
#include <deque>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "dvm/dif/text.h"
#include "dvm/runtime/handle.h"
#include "runtime/provider/providers.h"

namespace dvm::runtime::test {

inline const dif::DataType kInt{dif::TypeKind::integer, true, false, 4, "int"};
inline const dif::DataType kLong{dif::TypeKind::integer, true, false, 8, "int64_t"};
inline const dif::DataType kString{dif::TypeKind::string, false, false, 0, "string"};

// A DIFO that is one constant.
inline dif::Difo constant(int64_t value, const dif::DataType& type = kInt) {
  dif::Difo difo;
  difo.integers = {static_cast<uint64_t>(value)};
  difo.text = {dif::Instruction::indexed(dif::Opcode::setx, 0, 1), dif::Instruction::registers(dif::Opcode::ret, 0, 0, 1)};
  difo.result = type;
  return difo;
}

inline dif::Difo text(const std::string& value) {
  dif::Difo difo;
  difo.strings = value + '\0';
  difo.text = {dif::Instruction::indexed(dif::Opcode::sets, 0, 1), dif::Instruction::registers(dif::Opcode::ret, 0, 0, 1)};
  difo.result = kString;
  return difo;
}

inline dif::Difo built_in(dif::BuiltIn variable, const dif::DataType& type = kLong) {
  dif::Difo difo;
  difo.text = {dif::Instruction::indexed(dif::Opcode::ldgs, static_cast<unsigned>(variable), 1),
               dif::Instruction::registers(dif::Opcode::ret, 0, 0, 1)};
  difo.result = type;
  return difo;
}

// 1 / 0; the fault is at instruction 1.
inline dif::Difo divide_by_zero() {
  dif::Difo difo = constant(1);
  difo.text = {dif::Instruction::indexed(dif::Opcode::setx, 0, 1), dif::Instruction::registers(dif::Opcode::sdiv, 1, 0, 1),
               dif::Instruction::registers(dif::Opcode::ret, 0, 0, 1)};
  return difo;
}

// copyinstr(address)
inline dif::Difo copyinstr(uint64_t address) {
  dif::Difo difo = constant(static_cast<int64_t>(address), kLong);
  difo.text = {dif::Instruction::indexed(dif::Opcode::setx, 0, 1),
               dif::Instruction::registers(dif::Opcode::pushtv, static_cast<unsigned>(dif::PushType::value), 0, 1),
               dif::Instruction::indexed(dif::Opcode::call, static_cast<unsigned>(dif::Subroutine::copyinstr), 1),
               dif::Instruction::registers(dif::Opcode::ret, 0, 0, 1)};
  difo.result = kString;
  return difo;
}

inline dif::ActDesc action(dif::Action kind, std::vector<dif::Difo> args = {}) {
  dif::ActDesc desc;
  desc.kind = kind;
  for (dif::Difo& difo : args) desc.args.push_back({std::move(difo)});
  return desc;
}
inline dif::ActDesc exit_with(int status) { return action(dif::Action::exit, {constant(status)}); }
inline dif::ActDesc print(const std::string& format, std::vector<dif::Difo> args = {}) {
  dif::ActDesc desc = action(dif::Action::printf, std::move(args));
  desc.format = format;
  desc.has_format = true;
  return desc;
}

// An aggregating action; `keys` of its arguments are keys.
inline dif::ActDesc aggregate(dif::Action function, uint32_t id, std::vector<dif::Difo> args, unsigned keys) {
  dif::ActDesc desc = action(function, std::move(args));
  desc.aggregations = {id};
  desc.key_count = keys;
  return desc;
}
// printa, clear, ...
inline dif::ActDesc on_aggregations(dif::Action kind, std::vector<uint32_t> ids, std::vector<dif::Difo> args = {}) {
  dif::ActDesc desc = action(kind, std::move(args));
  desc.aggregations = std::move(ids);
  return desc;
}

inline dif::EcbDesc clause(const std::string& name, std::vector<dif::ActDesc> actions) {
  dif::EcbDesc desc;
  desc.probes = {{"", "", "", name}};
  desc.actions = std::move(actions);
  return desc;
}

inline dif::AggregationDesc declare(uint32_t id, dif::Action function, std::vector<dif::DataType> keys = {},
                                    std::vector<int64_t> parameters = {}) {
  return {id, "", function, std::move(keys), std::move(parameters), kLong};
}

// Fires what the test put into `firings`, once each; finished when all have fired.
class ManualInstrument final : public Instrument {
 public:
  std::deque<vm::Firing> firings;
  uint64_t lost = 0;
  bool takes(const Probe& probe) const override { return !std::holds_alternative<InternalSite>(probe.site); }
  Status enable(std::span<const EnabledProbe>, std::vector<Refused>&) override { return {}; }
  Result<uint64_t> poll(EventSink& sink) override {
    uint64_t count = firings.size();
    for (vm::Firing& firing : firings) sink.fire(firing);
    firings.clear();
    return count;
  }
  bool finished() const override { return firings.empty(); }
  uint64_t drops() const override { return lost; }
  void disable() override {}
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
  void fire(uint32_t probe, std::array<uint64_t, 10> args = {}, int32_t cpu = 0) {
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
    if (Status status = handle().enable(program); !status) return status.error().message;
    std::vector<Refused> refused;
    if (Status status = handle().go(refused); !status) return status.error().message;
    return "";
  }
  std::string out() { return std::fflush(config_.out), std::string(out_, out_size_); }
  // The same with the CPU that BEGIN and END ran on written as 0.
  std::string masked_out() { return std::regex_replace(out(), std::regex("(^|\n) *[0-9]+( +[0-9]+ +:)"), "$1  0$2"); }
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
