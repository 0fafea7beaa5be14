// Tested by tests/unit/instrument/uprobe_test.cpp and tests/runtime/proc.
#include "runtime/instrument/uprobe/task_name.h"

#include <limits>
#include <map>

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

std::optional<Operand> find_member(std::string_view members) {
  const auto types = KernelTypes::load();
  if (!types) return std::nullopt;
  auto found = (*types)->resolve("sched_process_exit", {Operand::handed(kThisThread), members});
  return found ? std::optional(*found) : std::nullopt;
}

std::optional<CommandLinePlace> find_command_line() {
  const std::optional<Operand> begin = find_member("mm.arg_start"), end = find_member("mm.arg_end");
  return begin && end ? std::optional(CommandLinePlace{*begin, *end}) : std::nullopt;
}

std::map<unsigned, ProcessNumber> find_process_numbers() {
  std::map<unsigned, ProcessNumber> found;
#define DVM_PROCESS_NUMBER(number, members, less, is_pid) \
  if (const auto place = find_member(members)) found[number] = {*place, less, is_pid};
#include "runtime/instrument/uprobe/process_numbers.def"
  return found;
}

}  // namespace

int16_t task_name_offset() {
  static const int16_t offset = read_offset();
  return offset;
}

std::optional<Operand> parent_of_this_thread() {
  static const std::optional<Operand> parent = find_member("real_parent.tgid");
  return parent;
}

std::optional<CommandLinePlace> command_line_of_this_thread() {
  static const std::optional<CommandLinePlace> place = find_command_line();
  return place;
}

std::optional<AncestorPlace> ancestors_of_threads() {
  static const std::optional<Operand> parent = find_member("real_parent"), number = find_member("tgid");
  if (!parent || !number) return std::nullopt;
  return AncestorPlace{static_cast<int32_t>(parent->value), static_cast<int32_t>(number->value)};
}

std::optional<ProcessNumber> process_number_of_this_thread(unsigned number) {
  static const std::map<unsigned, ProcessNumber> numbers = find_process_numbers();
  const auto found = numbers.find(number);
  return found == numbers.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace dvm::runtime
