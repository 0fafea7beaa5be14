// Parameters to argN. Covered by tests/unit/instrument/dwarf_test.cpp.

#include "runtime/symbol/signature.h"

#include <dwarf.h>

#include <algorithm>

#include "runtime/symbol/dwarf_names.h"

namespace dvm::runtime {

using dif::DescribedAs;

namespace {

constexpr unsigned kRegisters = 6;        // that integers are passed in
constexpr unsigned kKnownArguments = 10;  // arg0 to arg9
constexpr unsigned kDeepest = 16;         // of types inside types
constexpr size_t kMostParameters = 1024;

enum class Class : uint8_t { none, integer, vector, memory };

// How a value travels: in so many integer registers, in vector registers, or in memory.
struct Passing {
  Class low = Class::none, high = Class::none;  // of its first and second eight bytes
  uint64_t size = 0;
  bool by_address = false;  // an object of C++ that may not be copied bit by bit
  bool is_wide = false;     // a long double: aligned to 16 bytes

  bool in_memory() const { return low == Class::memory; }
  unsigned integers() const { return (low == Class::integer) + (high == Class::integer); }
  bool is_integer() const { return low == Class::integer && high == Class::none; }
};

void merge(Class& into, Class found) {
  if (into == Class::none || found == Class::memory || (into == Class::vector && found == Class::integer)) into = found;
}

class Classifier {
 public:
  explicit Classifier(DieTable& table) : table_(table) {}

  Passing classify(dif::TypeRef type) {
    Passing passing;
    const Dwarf_Die* die = strip(type);
    if (die == nullptr) return passing;
    const dif::TypeDesc desc = describe(*die, table_);
    passing.size = desc.size;
    if (desc.as == DescribedAs::structure || desc.as == DescribedAs::union_) {
      if (is_passed_by_address(*die)) return {Class::integer, Class::none, 8, true, false};
      if (desc.size > 16) return {Class::memory, Class::none, desc.size, false, false};
    }
    add(type, 0, passing, 0);
    if (passing.high == Class::memory || passing.low == Class::memory) passing.low = Class::memory, passing.high = Class::none;
    return passing;
  }

 private:
  // The type behind typedefs and qualifiers.
  const Dwarf_Die* strip(dif::TypeRef type) {
    for (unsigned depth = 0; depth < 64; depth++) {
      const Dwarf_Die* die = table_.find(type);
      if (die == nullptr) return nullptr;
      const dif::TypeDesc desc = describe(*die, table_);
      if (desc.as != DescribedAs::alias && desc.as != DescribedAs::qualified) return die;
      type = desc.target;
    }
    return nullptr;
  }

  static bool is_passed_by_address(const Dwarf_Die& die) {
    Dwarf_Attribute attribute;
    Dwarf_Word convention = 0;
    return dwarf_attr(const_cast<Dwarf_Die*>(&die), DW_AT_calling_convention, &attribute) != nullptr &&
           dwarf_formudata(&attribute, &convention) == 0 && convention == DW_CC_pass_by_reference;
  }

  void add(dif::TypeRef type, uint64_t offset, Passing& to, unsigned depth) {
    const Dwarf_Die* die = strip(type);
    if (die == nullptr || depth > kDeepest || offset >= 16) return;
    const dif::TypeDesc desc = describe(*die, table_);
    switch (desc.as) {
      case DescribedAs::structure:
      case DescribedAs::union_:
        for (const dif::MemberDesc& member : members_of(*die, table_)) add(member.type, offset + member.offset, to, depth + 1);
        return;
      case DescribedAs::array:
        return add_elements(desc, offset, to, depth);
      case DescribedAs::floating:
        to.is_wide |= desc.size > 8;
        return merge(offset < 8 ? to.low : to.high, desc.size > 8 ? Class::memory : Class::vector);
      case DescribedAs::unknown:
        if (desc.size == 16) merge(to.high, Class::integer);  // __int128
        [[fallthrough]];
      default:
        return merge(offset < 8 ? to.low : to.high, Class::integer);
    }
  }

  void add_elements(const dif::TypeDesc& array, uint64_t offset, Passing& to, unsigned depth) {
    const Dwarf_Die* element = strip(array.target);
    const uint64_t size = element == nullptr ? 0 : describe(*element, table_).size;
    for (uint64_t at = 0; at < 16 && size > 0; at += size) add(array.target, offset + at, to, depth + 1);
  }

  DieTable& table_;
};

// Hands out registers and places on the stack in the order of the parameters.
class Places {
 public:
  void skip_register() { registers_++; }

  void place(const Passing& passing, dif::ArgumentDesc& argument) {
    if (passing.low == Class::none) {
      argument.problem = "its type has no size";
    } else if (!passing.in_memory() && passing.integers() == 0) {
      argument.problem = "it is passed in a vector register, as floating-point values are";
    } else if (!passing.in_memory() && registers_ + passing.integers() <= kRegisters) {
      argument.arg = registers_;
      argument.is_in_memory = passing.by_address;
      if (!passing.is_integer()) argument.problem = "it is passed in several registers";
      registers_ += passing.integers();
    } else {
      on_stack(passing, argument);
    }
    if (argument.problem.empty() && argument.arg >= kKnownArguments) argument.problem = "only arg0 to arg9 are known";
  }

 private:
  void on_stack(const Passing& passing, dif::ArgumentDesc& argument) {
    if (passing.is_wide) stack_ += stack_ % 2;
    argument.arg = kRegisters + static_cast<unsigned>(std::min<uint64_t>(stack_, 1 << 20));
    argument.is_in_memory = passing.by_address;
    stack_ += (passing.size + 7) / 8;
    if (!passing.is_integer()) argument.problem = "it is a structure that is passed on the stack";
  }

  unsigned registers_ = 0;
  uint64_t stack_ = 0;  // words
};

// Of a function of several copies the parameters may stand with its abstract original only.
std::vector<Dwarf_Die> parameters_of(Dwarf_Die function) {
  std::vector<Dwarf_Die> list;
  for (unsigned hop = 0; hop < 4 && list.empty(); hop++) {
    DieWalk walk(kMostParameters);
    walk.below(function, [&](Dwarf_Die& child) {
      if (dwarf_tag(&child) == DW_TAG_formal_parameter) list.push_back(child);
      return DieWalk::Next::over;
    });
    Dwarf_Attribute attribute;
    Dwarf_Die origin;
    if (dwarf_attr(&function, DW_AT_abstract_origin, &attribute) == nullptr &&
        dwarf_attr(&function, DW_AT_specification, &attribute) == nullptr)
      break;
    if (dwarf_formref_die(&attribute, &origin) == nullptr) break;
    function = origin;
  }
  return list;
}

std::vector<dif::ArgumentDesc> entry_arguments(const Dwarf_Die& function, DieTable& table) {
  Classifier classifier(table);
  Places places;
  if (const dif::TypeRef result = type_of(function, table)) {
    const Passing passing = classifier.classify(result);
    if (passing.in_memory() || passing.by_address) places.skip_register();
  }
  std::vector<dif::ArgumentDesc> list;
  for (Dwarf_Die& parameter : parameters_of(function)) {
    dif::ArgumentDesc argument;
    argument.name = text_of(parameter, DW_AT_name);
    argument.type = type_of(parameter, table);
    places.place(classifier.classify(argument.type), argument);
    list.push_back(std::move(argument));
  }
  return list;
}

std::vector<dif::ArgumentDesc> return_arguments(const Dwarf_Die& function, DieTable& table) {
  std::vector<dif::ArgumentDesc> list(1);
  list[0].is_word = true;
  dif::ArgumentDesc result;
  result.type = type_of(function, table);
  result.arg = 1;
  if (result.type == 0) return list;
  const Passing passing = Classifier(table).classify(result.type);
  result.is_in_memory = passing.in_memory() || passing.by_address;
  if (!result.is_in_memory && passing.low == Class::vector)
    result.problem = "it is returned in a vector register, as floating-point values are";
  else if (!result.is_in_memory && !passing.is_integer())
    result.problem = "it is returned in several registers";
  list.push_back(std::move(result));
  return list;
}

}  // namespace

std::vector<dif::ArgumentDesc> arguments_of(const Dwarf_Die& function, bool is_return, DieTable& table) {
  return is_return ? return_arguments(function, table) : entry_arguments(function, table);
}

}  // namespace dvm::runtime
