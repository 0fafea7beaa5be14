// The engine llvm: runs the machine code that the translator makes of a DIFO or of the body of a clause. Covered by
// tests/conformance and tests/fuzz/clause_fuzz_test.cpp.

#include <algorithm>
#include <cstddef>
#include <exception>
#include <new>
#include <utility>
#include <vector>

#include "dvm/vm/body.h"
#include "dvm/vm/engine.h"
#include "vm/cost/tally.h"
#include "vm/engine/native/code_memory.h"
#include "vm/engine/native/helpers.h"
#include "vm/engine/native/load_translator.h"
#include "vm/engine/native/perf_map.h"
#include "vm/state/address.h"

namespace dvm::vm {

namespace native {

namespace {

CodeContext context_of(const dif::Difo& difo) { return {helpers(), &difo, address_of(difo.strings.data())}; }

class NativeDifo final : public PreparedDifo {
 public:
  NativeDifo(VerifiedDifo difo, CodeMemory code, bool counts)
      : PreparedDifo(reinterpret_cast<Run>(code.begin())), difo_(std::move(difo)), memory_(std::move(code)), counts_(counts) {
    context = context_of(difo_.difo());
  }
  size_t cost_count() const override { return counts_ ? 1 + difo_.difo().text.size() : 0; }
  void take_counts(std::span<OpCost> costs, Counts& into, InstructionCounts& instructions) const override {
    if (!counts_) return;
    const dif::Difo& difo = difo_.difo();
    add_instructions(instructions, tally_blocks(difo, costs.subspan(1, difo.text.size()), costs.front().executed, into));
    std::fill(costs.begin(), costs.end(), OpCost{});
  }
  const dif::Difo& difo() const override { return difo_.difo(); }

  CodeContext context;

 private:
  VerifiedDifo difo_;
  CodeMemory memory_;
  bool counts_;
};

class NativeBody final : public PreparedBody {
 public:
  NativeBody(const BodyRequest& request, CodeMemory code, size_t gate)
      : PreparedBody(reinterpret_cast<Run>(code.begin()), gate_at(code, gate)), memory_(std::move(code)) {
    for (const Step& step : request.steps) objects_.push_back(step.object);
    for (const BodyDifo& each : request.difos) difos_.push_back(context_of(*each.difo));
    context = {request.helpers, objects_.data(), difos_.data()};
  }

  BodyContext context;

 private:
  static Gate gate_at(const CodeMemory& code, size_t offset) {
    return offset == 0 ? nullptr : reinterpret_cast<Gate>(static_cast<std::byte*>(code.begin()) + offset);
  }

  CodeMemory memory_;
  std::vector<const void*> objects_;
  std::vector<CodeContext> difos_;
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
template <class Object>
MachineLayout layout_in() {
  MachineLayout at = layout();
  at.context = offsetof(Object, context);
  return at;
}
#pragma GCC diagnostic pop

// Memory that LLVM does not get, and what it calls a fatal error, come as exceptions.
template <class Translate, class Asked>
Translation translated(Translate translate, const Asked& request) {
  try {
    return translate(request);
  } catch (const std::bad_alloc&) {
    return {{}, "no memory to translate", 0};
  } catch (const std::exception& error) {
    return {{}, error.what(), 0};
  }
}

// Why there is no code, or nothing.
std::string map(const Translation& made, CodeMemory& memory, std::string_view name) {
  if (!made.error.empty()) return made.error;
  std::string problem = memory.map(made.code);
  if (problem.empty()) name_code(memory.begin(), made.code.size(), name);
  return problem;
}

}  // namespace

}  // namespace native

std::string llvm_problem() { return native::translator().problem; }

Prepared prepare_llvm(VerifiedDifo difo, CostPolicy policy) {
  if (policy == CostPolicy::time) return prepare_interp(std::move(difo), policy);
  const native::LoadedTranslator& loaded = native::translator();
  if (!loaded.translator) return {nullptr, loaded.problem};
  const bool counts = policy == CostPolicy::blocks;
  native::CodeMemory memory;
  const native::MachineLayout layout = native::layout_in<native::NativeDifo>();
  const native::Request request{difo.difo(), layout, counts, true};
  const native::Translation made = native::translated(loaded.translator->translate, request);
  if (std::string problem = native::map(made, memory, "dvm_difo"); !problem.empty()) return {nullptr, std::move(problem)};
  return {std::make_unique<native::NativeDifo>(std::move(difo), std::move(memory), counts), {}};
}

MadeBody prepare_llvm_body(const BodyRequest& request) {
  const native::LoadedTranslator& loaded = native::translator();
  if (!loaded.translator) return {nullptr, loaded.problem};
  native::CodeMemory memory;
  const native::MachineLayout layout = native::layout_in<native::NativeBody>();
  const native::Translation made = native::translated(loaded.translator->translate_body, native::BodyCode{request, layout, true});
  if (std::string problem = native::map(made, memory, request.name); !problem.empty()) return {nullptr, std::move(problem)};
  return {std::make_unique<native::NativeBody>(request, std::move(memory), made.gate), {}};
}

}  // namespace dvm::vm
