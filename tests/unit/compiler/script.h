#pragma once
// Runs a compiled script without probes: what its expressions make.

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "dvm/compiler/compile.h"
#include "dvm/vm/engine.h"

namespace dvm {

class NoHost final : public vm::Host {
 public:
  bool read(uint64_t, std::span<std::byte>) noexcept override { return false; }
  std::ptrdiff_t read_string(uint64_t, std::span<char>) noexcept override { return -1; }
  int32_t ppid() noexcept override { return -1; }
  int64_t uid() noexcept override { return -1; }
  int64_t gid() noexcept override { return -1; }
};

// Compiles a program of one clause and runs its actions in order; trace() leaves its values in `values`.
class Script {
 public:
  explicit Script(const std::string& text, bool optimize = true) {
    compiler::Source source{"test.d", text, false};
    compiler::CompileOptions options;
    options.optimize = optimize;
    options.arguments = {"test.d", "12", "text"};
    compiler::CompileResult compiled = compiler::compile({&source, 1}, options);
    for (const auto& d : compiled.diagnostics) ADD_FAILURE() << compiler::render(d, source, true);
    is_compiled = !compiled.programs.empty();
    if (is_compiled) run(compiled.programs[0].program);
  }

  std::vector<std::string> values;
  dif::Fault fault = dif::Fault::none;
  bool is_compiled = false;

 private:
  void run(const dif::Program& program) {
    vm::StateLimits limits;
    vm::VariableState variables(program.variables, limits);
    vm::MachineState state(variables, limits);
    NoHost host;
    vm::Firing firing;
    firing.args = {10, 20, static_cast<uint64_t>(-3)};
    firing.execname = "prog";
    state.begin_firing(firing, host);
    for (const dif::EcbDesc& clause : program.clauses) {
      state.begin_clause(1);
      if (clause.predicate && evaluate(clause.predicate->difo, state) == 0) continue;
      for (const dif::ActDesc& action : clause.actions)
        for (const dif::RecDesc& record : action.args) {
          const uint64_t value = evaluate(record.difo, state);
          if (state.fault().id != dif::Fault::none) {
            fault = state.fault().id;
            return;
          }
          if (action.kind == dif::Action::trace) values.push_back(text(value, record.difo.result, state));
        }
    }
  }

  uint64_t evaluate(const dif::Difo& difo, vm::MachineState& state) {
    auto verified = vm::verify(difo);
    if (auto* errors = std::get_if<1>(&verified)) {
      for (const vm::VerifyError& e : *errors) ADD_FAILURE() << e.pc << ": " << e.message;
      return 0;
    }
    prepared_.push_back(vm::prepare_interp(std::get<0>(std::move(verified)), vm::CostPolicy::none));
    return prepared_.back()->run(state);
  }

  // Values may point into their DIFO's strings.
  std::vector<std::unique_ptr<vm::PreparedDifo>> prepared_;

  // The string as a record would hold it.
  static std::string text(uint64_t value, const dif::DataType& type, vm::MachineState& state) {
    if (type.kind == dif::TypeKind::string) {
      std::array<std::byte, 256> bytes{};
      EXPECT_TRUE(state.copy_string(value, bytes));
      return reinterpret_cast<const char*>(bytes.data());
    }
    const unsigned shift = 64 - type.size * 8;
    if (type.is_signed) return std::to_string(static_cast<int64_t>(value << shift) >> shift);
    return std::to_string(value << shift >> shift);
  }
};

}  // namespace dvm
