// Tested by tests/runtime/scenarios/test_containers.py.
#include "runtime/instrument/uprobe/pid_numbers.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace dvm::runtime {
namespace {

// Numbers in the initial namespace, and those in all namespaces.
struct NumberRow {
  std::string_view first, all;
  Operand::Kind kind;
};
constexpr NumberRow kNumbers[] = {
    {"pid", "thread_pid.numbers[0].nr", Operand::Kind::number},
    {"tgid", "signal.pids[1].numbers[0].nr", Operand::Kind::number},
    {"real_parent.tgid", "real_parent.signal.pids[1].numbers[0].nr", Operand::Kind::relative_number},
    {"signal.pids[2].numbers[0].nr", "signal.pids[2].numbers[0].nr", Operand::Kind::relative_number},
    {"signal.pids[3].numbers[0].nr", "signal.pids[3].numbers[0].nr", Operand::Kind::relative_number},
};

}  // namespace

Result<Operand> resolve_number(bool is_initial, const KernelTypes& types, const std::string& tracepoint, const KernelWord& word) {
  const auto* row =
      std::find_if(std::begin(kNumbers), std::end(kNumbers), [&](const auto& it) { return it.first == word.members; });
  if (is_initial || row == std::end(kNumbers)) return types.resolve(tracepoint, word);
  auto found = types.resolve(tracepoint, {word.operand, row->all});
  if (found) found->kind = row->kind;
  return found;
}

}  // namespace dvm::runtime
