// Tested by tests/unit/instrument/uprobe_test.cpp and tests/runtime/proc.
#include "runtime/instrument/uprobe/task_name.h"

#include <limits>
#include <map>

#include "runtime/instrument/uprobe/kernel_types.h"
#include "runtime/instrument/uprobe/pid_numbers.h"
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

std::optional<Operand> find_member(std::string_view members, bool is_initial = true) {
  const auto types = KernelTypes::load();
  if (!types) return std::nullopt;
  auto found = resolve_number(is_initial, **types, "sched_process_exit", {Operand::handed(kThisThread), members});
  return found ? std::optional(*found) : std::nullopt;
}

// Eight bytes, whatever the member has.
std::optional<Operand> find_word(std::string_view members) {
  std::optional<Operand> place = find_member(members);
  if (place) place->size = sizeof(int64_t), place->is_signed = false;
  return place;
}

std::optional<CommandLinePlace> find_command_line() {
  const std::optional<Operand> begin = find_member("mm.arg_start"), end = find_member("mm.arg_end");
  return begin && end ? std::optional(CommandLinePlace{*begin, *end}) : std::nullopt;
}

// Places of numbers as seen from the initial namespace, or from another one.
struct NumberPlaces {
  explicit NumberPlaces(bool is_initial)
      : parent(find_member("real_parent.tgid", is_initial)), process(find_member("tgid", is_initial)) {
#define DVM_PROCESS_NUMBER(number, members, less) \
  if (const auto place = find_member(members, is_initial)) of_process[number] = {*place, less};
#define DVM_PROCESS_WORD(number, members) \
  if (const auto place = find_word(members)) of_process[number] = {*place, 0};
#include "runtime/instrument/uprobe/process_numbers.def"
  }

  std::optional<Operand> parent, process;
  std::map<unsigned, ProcessNumber> of_process;
};

// Null if the kernel does not tell them.
const NumberPlaces* number_places(const PidNamespace& pids) {
  if (!pids.knows_others()) return nullptr;
  if (pids.is_initial()) {
    static const NumberPlaces initial(true);
    return &initial;
  }
  static const NumberPlaces inside(false);
  return &inside;
}

}  // namespace

int16_t task_name_offset() {
  static const int16_t offset = read_offset();
  return offset;
}

std::optional<Operand> parent_of_this_thread(const PidNamespace& pids) {
  const NumberPlaces* places = number_places(pids);
  return places ? places->parent : std::nullopt;
}

std::optional<CommandLinePlace> command_line_of_this_thread() {
  static const std::optional<CommandLinePlace> place = find_command_line();
  return place;
}

std::optional<AncestorPlace> ancestors_of_threads(const PidNamespace& pids) {
  static const std::optional<Operand> parent = find_member("real_parent");
  const NumberPlaces* places = number_places(pids);
  if (!parent || !places || !places->process) return std::nullopt;
  return AncestorPlace{static_cast<int32_t>(parent->value), *places->process};
}

std::optional<ProcessNumber> process_number_of_this_thread(const PidNamespace& pids, unsigned number) {
  const NumberPlaces* places = number_places(pids);
  if (!places) return std::nullopt;
  const auto found = places->of_process.find(number);
  return found == places->of_process.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace dvm::runtime
