// Tested by tests/unit/instrument/uprobe_test.cpp and tests/runtime/proc.
#include "runtime/instrument/uprobe/task_name.h"

#include <limits>

#include "runtime/instrument/uprobe/kernel_types.h"
#include "runtime/instrument/uprobe/record.h"

namespace dvm::runtime {
namespace {

int16_t read_offset() {
  const auto types = KernelTypes::load();
  if (!types) return 0;
  // Names are padded since Linux 5.17, which was the first with this helper.
  if (!(*types)->find_constant("BPF_FUNC_loop")) return 0;
  constexpr auto kFarthest = std::numeric_limits<int16_t>::max() - kCommBytes;  // that BPF loads from a pointer
  for (const dif::MemberDesc& member : (*types)->members((*types)->find_type(dif::DescribedAs::structure, "task_struct")))
    if (member.name == "comm" && member.offset <= kFarthest) return static_cast<int16_t>(member.offset);
  return 0;
}

std::optional<Operand> find_parent() {
  const auto types = KernelTypes::load();
  if (!types) return std::nullopt;
  auto found = (*types)->resolve("sched_process_exit", {Operand::handed(kThisThread), "real_parent.tgid"});
  return found ? std::optional(*found) : std::nullopt;
}

}  // namespace

int16_t task_name_offset() {
  static const int16_t offset = read_offset();
  return offset;
}

std::optional<Operand> parent_of_this_thread() {
  static const std::optional<Operand> parent = find_parent();
  return parent;
}

}  // namespace dvm::runtime
