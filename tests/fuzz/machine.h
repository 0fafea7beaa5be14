#pragma once
// A machine for DIFOs from anywhere: what the verifier admits is run, and what must hold of any run is required.

#include <utility>
#include <variant>
#include <vector>

#include "dvm/dif/variable.h"
#include "dvm/vm/engine.h"
#include "tests/conformance/counted.h"
#include "tests/conformance/mock_host.h"
#include "tests/fuzz/fuzz_support.h"

namespace dvm::fuzz {

// A session with one variable of every scope, kind and type, so that random ids hit something.
inline std::vector<dif::Variable> all_kinds() {
  const dif::DataType types[] = {{dif::TypeKind::integer, true, false, 8, "int64_t"},
                                 {dif::TypeKind::string, false, false, 0, "string"},
                                 {dif::TypeKind::bytes, false, false, 24, "struct s"}};
  std::vector<dif::Variable> table;
  uint16_t id = dif::kFirstUserVariable;
  for (const dif::Scope scope : {dif::Scope::global, dif::Scope::thread, dif::Scope::clause})
    for (const dif::VariableKind kind : {dif::VariableKind::scalar, dif::VariableKind::array})
      for (const dif::DataType& type : types) table.push_back({"v", id++, scope, kind, true, true, type});
  return table;
}

// Everything that the DIF of a session needs to run: a firing with arguments, captured memory, registers.
class Machine {
 public:
  explicit Machine(std::vector<dif::Variable> variables) : table_(std::move(variables)) {
    firing_.args = {0, 1, 0x1000, ~uint64_t{0}, 0x2000};
    firing_.provider = "pid1", firing_.module = "m", firing_.function = "f", firing_.name = "entry", firing_.execname = "e";
    firing_.memory = captured_;
    host_.memory[0x2000] = "late";
    firing_.registers = {1u << 16 | 1u << 19, registers_};
  }
  // True when the verifier admitted it.
  bool try_run(dif::Difo difo) {
    auto verified = vm::verify(std::move(difo));
    if (const auto* errors = std::get_if<1>(&verified)) {
      require(!errors->empty() && !(*errors)[0].message.empty(), "what is refused is refused for a reason");
      return false;
    }
    run(std::get<0>(std::move(verified)));
    return true;
  }

 protected:
  void run(vm::VerifiedDifo verified) {
    const auto policy = static_cast<vm::CostPolicy>(runs_++ % 3);
    const size_t size = verified.difo().text.size();
    vm::test::Counted prepared(vm::prepare_interp(std::move(verified), policy));
    state_.begin_firing(firing_, host_);
    const uint64_t value = prepared.run(state_);
    require(state_.fault().id == dif::Fault::none || state_.fault().pc < size, "a fault names an instruction");
    std::byte to[300];
    state_.copy_string(value, to);
    state_.copy_bytes(value, to);
    vm::Counts counts;
    prepared.take_counts(counts);
    for (const vm::Tally& tally : counts.opcodes) require(tally.count <= size, "nothing loops");
  }

  const std::byte bytes_[8] = {std::byte{'a'}, std::byte{'b'}};
  const vm::CapturedMemory captured_[1] = {{0x1000, bytes_, false}};
  const uint64_t registers_[2] = {5, 6};
  vm::Firing firing_;
  vm::test::MockHost host_;
  vm::StateLimits limits_{.strsize = 16, .scratch = 256, .dynvarsize = 4096};
  std::vector<dif::Variable> table_;
  vm::VariableState variables_{table_, limits_};
  vm::MachineState state_{variables_, limits_};
  unsigned runs_ = 0;
};

}  // namespace dvm::fuzz
