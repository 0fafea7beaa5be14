// Assigns words to the parameters of Go's functions. Covered by tests/runtime/scenarios/test_go.py.

#include "runtime/symbol/go_signature.h"

#include <dwarf.h>

#include <algorithm>
#include <array>

#include "runtime/symbol/dwarf_names.h"
#include "runtime/symbol/parameter_place.h"

namespace dvm::runtime {
namespace {

using dif::DescribedAs;

constexpr unsigned kVectors = 15;     // registers
constexpr unsigned kDeepest = 16;     // of types inside types
constexpr size_t kMostMembers = 256;  // of one parameter

class GoPlaces {
 public:
  GoPlaces(GoAbi abi, bool is_return, DieTable& table)
      : table_(table), abi_(abi), is_return_(is_return), registers_(abi == GoAbi::registers ? kGoRegisters : 0) {}

  void place(dif::ArgumentDesc& argument) {
    dif::TypeRef type = argument.type;
    const dif::TypeDesc desc = strip(type);
    const unsigned integers = integers_, vectors = vectors_;
    const bool fits = abi_ == GoAbi::registers && assign(argument.type, 0, argument.parts, 0);
    if (!fits) {
      integers_ = integers, vectors_ = vectors;
      argument.parts.clear();
      on_stack(argument, desc.size);
    }
    if (!argument.problem.empty()) return;
    if (desc.as == DescribedAs::array)
      argument.problem = "it is an array without an address";
    else if (argument.parts.empty())
      argument.problem = fits ? "it is passed in a vector register, as floating-point values are" : "only arg0 to arg9 are known";
  }

 private:
  dif::TypeDesc strip(dif::TypeRef& type) {
    dif::TypeDesc desc;
    for (unsigned depth = 0; depth < kDeepest; depth++) {
      const Dwarf_Die* die = table_.find(type);
      if (die == nullptr) return {};
      desc = describe(*die, table_);
      if (desc.as == DescribedAs::function) desc.size = 8;  // a value of such a type is an address
      if (desc.as != DescribedAs::alias && desc.as != DescribedAs::qualified) return desc;
      type = desc.target;
    }
    return {};
  }

  static uint64_t count_of(const dif::TypeDesc& array) {
    uint64_t count = 1;
    for (const uint64_t one : array.counts) count = one > 1 || count > 1 ? std::max(count, one) : count * one;
    return count;
  }

  // False: it does not fit into the registers that are left.
  bool assign(dif::TypeRef type, uint64_t offset, std::vector<dif::ArgumentPart>& parts, unsigned depth) {
    const dif::TypeDesc desc = strip(type);
    if (depth > kDeepest || parts.size() > kMostMembers) return false;
    if (desc.as == DescribedAs::structure) {
      const auto members = members_of(*table_.find(type), table_);
      return std::all_of(members.begin(), members.end(), [&](const dif::MemberDesc& member) {
        return assign(member.type, offset + member.offset, parts, depth + 1);
      });
    }
    if (desc.as == DescribedAs::array && count_of(desc) == 1) return assign(desc.target, offset, parts, depth + 1);
    if (desc.as == DescribedAs::array) return count_of(desc) == 0;
    if (desc.as == DescribedAs::floating) return (vectors_ += desc.size > 8 ? 2 : 1) <= kVectors;
    if (desc.size == 0 || desc.size > 8 || integers_ == registers_) return false;
    parts.push_back({offset, desc.size, integers_ + (is_return_ ? 1 : 0), 0});
    integers_++;
    return true;
  }

  uint64_t alignment(dif::TypeRef type, unsigned depth) {
    const dif::TypeDesc desc = strip(type);
    if (depth > kDeepest) return 8;
    if (desc.as == DescribedAs::array) return alignment(desc.target, depth + 1);
    if (desc.as != DescribedAs::structure) return std::clamp<uint64_t>(desc.size, 1, 8);
    uint64_t most = 1;
    for (const dif::MemberDesc& member : members_of(*table_.find(type), table_))
      most = std::max(most, alignment(member.type, depth + 1));
    return most;
  }

  void on_stack(dif::ArgumentDesc& argument, uint64_t size) {
    if (is_return_) {
      argument.problem = "it is returned on the stack";
      return;
    }
    const uint64_t align = alignment(argument.type, 0), begin = (stack_ + align - 1) / align * align;
    stack_ = begin + size;
    for (uint64_t word = begin / 8; word * 8 < stack_ && registers_ + word < kArguments; word++) {
      const uint64_t from = std::max(begin, word * 8), to = std::min(stack_, word * 8 + 8);
      argument.parts.push_back(
          {from - begin, to - from, registers_ + static_cast<unsigned>(word), static_cast<unsigned>(from % 8 * 8)});
    }
  }

  DieTable& table_;
  GoAbi abi_;
  bool is_return_;
  unsigned registers_, integers_ = 0, vectors_ = 0;
  uint64_t stack_ = 0;  // bytes
};

bool is_result(Dwarf_Die& parameter) {
  Dwarf_Attribute attribute;
  bool is_set = false;
  return dwarf_attr_integrate(&parameter, DW_AT_variable_parameter, &attribute) != nullptr &&
         dwarf_formflag(&attribute, &is_set) == 0 && is_set;
}

// Takes DWARF's number of the register.
unsigned word_of(unsigned reg) {
  constexpr std::array<unsigned, kGoRegisters> kNumbers = {0, 3, 2, 5, 4, 8, 9, 10, 11};
  return static_cast<unsigned>(std::find(kNumbers.begin(), kNumbers.end(), reg) - kNumbers.begin());
}

// True if the registers that the debug information names at the entry are those that were computed. The distance of their parts
// in the value does not count, since Go leaves out the padding between them.
bool agrees(const Dwarf_Die& function, const Dwarf_Die& parameter, const dif::ArgumentDesc& argument) {
  const ParameterPlace place = place_at_entry(function, parameter);
  if (place.kind != ParameterPlace::Kind::in_register && place.kind != ParameterPlace::Kind::in_parts) return true;
  return std::all_of(place.parts.begin(), place.parts.end(), [&](const ParameterPlace::Piece& said) {
    const unsigned word = word_of(said.reg);
    return word == kGoRegisters || std::any_of(argument.parts.begin(), argument.parts.end(),
                                               [word](const dif::ArgumentPart& part) { return part.arg == word; });
  });
}

}  // namespace

std::vector<dif::ArgumentDesc> go_arguments_of(const Dwarf_Die& function, bool is_return, GoAbi abi, DieTable& table) {
  std::vector<dif::ArgumentDesc> list(is_return ? 1 : 0);
  if (is_return) list[0].is_word = true;
  GoPlaces places(abi, is_return, table);
  bool is_as_said = true;
  for (Dwarf_Die& parameter : parameters_with_code(function)) {
    if (is_result(parameter) != is_return) continue;
    dif::ArgumentDesc& argument = list.emplace_back();
    argument.name = text_of(parameter, DW_AT_name);
    argument.type = type_of(parameter, table);
    places.place(argument);
    is_as_said &= is_return || agrees(function, parameter, argument);
  }
  for (size_t i = 0; i < list.size() && !is_as_said; i++)
    list[i].problem = "the debug information says that it is passed elsewhere than Go passes it";
  return list;
}

}  // namespace dvm::runtime
