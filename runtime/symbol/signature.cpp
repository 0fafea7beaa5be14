// Parameters to argN. Covered by tests/unit/instrument/dwarf_test.cpp.

#include "runtime/symbol/signature.h"

#include <dwarf.h>

#include <algorithm>
#include <array>
#include <optional>

#include "runtime/symbol/dwarf_names.h"
#include "runtime/symbol/parameter_place.h"
#include "runtime/symbol/rust_passing.h"

namespace dvm::runtime {

using dif::DescribedAs;

namespace {

constexpr unsigned kRegisters = 6;        // that integers are passed in
constexpr unsigned kKnownArguments = 10;  // arg0 to arg9
constexpr const char* kInVector = "it is passed in a vector register, as floating-point values are";
constexpr const char* kBeyond = "only arg0 to arg9 are known";
constexpr const char* kOfCOrRust = "it is not known whether the function uses C's or Rust's calling convention";
constexpr const char* kArray = "it is an array in a register";
constexpr unsigned kDeepest = 16;  // of types inside types

enum class Class : uint8_t { none, integer, vector, memory };

// How a value travels: in so many integer registers, in vector registers, or in memory.
struct Passing {
  Class low = Class::none, high = Class::none;  // of its first and second eight bytes
  uint64_t size = 0;
  bool by_address = false;  // an object of C++ that may not be copied bit by bit
  bool is_wide = false;     // a long double: aligned to 16 bytes
  bool is_structure = false;
  bool is_unknown = false;            // of Rust, see rust_passing.h
  uint64_t second = 8;                // offset of what its second register holds
  bool is_array = false;              // of Rust, which passes it like a structure
  bool is_split = false;              // without registers for both halves, one or both are words on the stack
  bool is_of_c_or_rust = false;       // which pass it in different ways
  bool is_perhaps_in_memory = false;  // of C or Rust: C does not split it

  bool is_elsewhere() const { return in_memory() || by_address; }
  bool in_memory() const { return low == Class::memory; }
  unsigned integers() const { return (low == Class::integer) + (high == Class::integer); }
  bool is_integer() const { return low == Class::integer && high == Class::none; }
};

constexpr Passing kByAddress = {Class::integer, Class::none, 8, true, false, false, false};

void merge(Class& into, Class found) {
  if (into == Class::none || found == Class::memory || (into == Class::vector && found == Class::integer)) into = found;
}

// Also of an array: DWARF gives the size of its elements.
uint64_t size_of(dif::TypeRef type, DieTable& table, unsigned depth = 0) {
  constexpr uint64_t kMost = uint64_t{1} << 31;
  const Dwarf_Die* die = behind_names(type, table);
  if (die == nullptr || depth > kDeepest) return 0;
  const dif::TypeDesc desc = describe(*die, table);
  if (desc.as != DescribedAs::array) return desc.size;
  uint64_t size = std::min(size_of(desc.target, table, depth + 1), kMost);
  for (const uint64_t count : desc.counts) size = std::min(size * std::min(count, kMost), kMost);
  return size;
}

class Classifier {
 public:
  Classifier(DieTable& table, bool is_rust, bool may_be_c) : table_(table), is_rust_(is_rust), may_be_c_(may_be_c) {}

  Passing classify(dif::TypeRef type) {
    Passing passing = by_convention(type);
    if (!is_rust_ || !may_be_c_ || passing.is_unknown) return passing;
    const Passing in_c = by_c(type);
    passing.is_of_c_or_rust = passing.low != in_c.low || passing.high != in_c.high || passing.by_address != in_c.by_address ||
                              (passing.high != Class::none && passing.second != in_c.second);
    passing.is_perhaps_in_memory = passing.is_split;
    return passing;
  }

  // Versions of rustc differ in whether the caller passes an address for an aggregate of 9 to 16 bytes.
  bool is_returned_somehow(dif::TypeRef type) {
    const uint64_t size = size_of(type, table_);
    if (!is_rust_ || size <= 8) return false;
    if (may_be_c_ && by_convention(type).is_elsewhere() != by_c(type).is_elsewhere()) return true;
    const RustPassing::Kind kind = rust_passing(type, table_).kind;
    return kind == RustPassing::Kind::unknown || (size <= 16 && kind == RustPassing::Kind::aggregate);
  }

  // A function of Rust has the address of such a value. Where it has the value, its caller put that on the stack, as in C.
  bool is_by_address_in_rust(const Passing& passing) const { return is_rust_ && passing.by_address; }

 private:
  Passing by_c(dif::TypeRef type) { return Classifier(table_, false, false).by_convention(type); }

  Passing by_convention(dif::TypeRef type) {
    Passing passing;
    const Dwarf_Die* die = behind_names(type, table_);
    if (die == nullptr) return passing;
    const dif::TypeDesc desc = describe(*die, table_);
    if (is_rust_ && desc.as == DescribedAs::array) return of_rust(type, size_of(type, table_), true);
    passing.size = desc.size;
    if (desc.as == DescribedAs::structure || desc.as == DescribedAs::union_) {
      if (is_rust_) return of_rust(type, desc.size);
      if (is_passed_by_address(*die)) return kByAddress;
      if (desc.size > 16) return {Class::memory, Class::none, desc.size, false, false, false, false};
    }
    add(type, 0, passing, 0);
    if (passing.high == Class::memory || passing.low == Class::memory) passing.low = Class::memory, passing.high = Class::none;
    passing.is_structure = desc.as == DescribedAs::structure || desc.as == DescribedAs::union_;
    passing.is_unknown = is_rust_ && passing.low == Class::none && passing.size > 0;
    return passing;
  }

  Passing of_rust(dif::TypeRef type, uint64_t size, bool is_array = false) {
    using Kind = RustPassing::Kind;
    const auto [kind, scalars] = rust_passing(type, table_);
    const auto class_of = [](const RustScalar& scalar) { return scalar.is_floating ? Class::vector : Class::integer; };
    if (kind == Kind::aggregate && size > 8) return kByAddress;
    Passing passing;
    passing.size = size, passing.is_structure = true, passing.is_array = is_array;
    passing.is_unknown = kind == Kind::unknown;
    if (kind == Kind::aggregate) passing.low = Class::integer;
    if (kind != Kind::scalars) return passing;
    passing.low = class_of(scalars.front());
    if (scalars.size() == 2)
      passing.high = class_of(scalars.back()), passing.second = scalars.back().offset, passing.is_split = true;
    if (scalars.front().size == 16) passing.high = passing.low;  // __int128
    return passing;
  }

  static bool is_passed_by_address(const Dwarf_Die& die) {
    Dwarf_Attribute attribute;
    Dwarf_Word convention = 0;
    return dwarf_attr(const_cast<Dwarf_Die*>(&die), DW_AT_calling_convention, &attribute) != nullptr &&
           dwarf_formudata(&attribute, &convention) == 0 && convention == DW_CC_pass_by_reference;
  }

  void add(dif::TypeRef type, uint64_t offset, Passing& to, unsigned depth) {
    const Dwarf_Die* die = behind_names(type, table_);
    if (die == nullptr || depth > kDeepest || offset >= 16) return;
    const dif::TypeDesc desc = describe(*die, table_);
    switch (desc.as) {
      case DescribedAs::structure:
      case DescribedAs::union_:
        for (const dif::MemberDesc& member : members_of(*die, table_))
          if (member.bits != 0)
            merge(offset + member.offset < 8 ? to.low : to.high, Class::integer);
          else if (!member.is_virtual)
            add(member.type, offset + member.offset, to, depth + 1);
        return;
      case DescribedAs::array:
        return add_elements(desc, offset, to, depth);
      default:
        return is_misaligned(desc.size, offset) ? merge(to.low, Class::memory) : add_scalar(*die, desc, offset, to);
    }
  }

  // A structure with such a member, because it is packed, is passed in memory.
  bool is_misaligned(uint64_t size, uint64_t offset) const {
    return !is_rust_ && size > 0 && offset % std::min<uint64_t>(size, 8) != 0;
  }

  static void add_scalar(const Dwarf_Die& die, const dif::TypeDesc& desc, uint64_t offset, Passing& to) {
    switch (desc.as) {
      case DescribedAs::floating:
        to.is_wide |= desc.size > 8;
        return merge(offset < 8 ? to.low : to.high, desc.size > 8 ? Class::memory : Class::vector);
      case DescribedAs::unknown:
        if (is_floating(die)) return add_floating(desc.size, offset, to);
        if (desc.size == 16) merge(to.high, Class::integer);  // __int128
        [[fallthrough]];
      default:
        return merge(offset < 8 ? to.low : to.high, Class::integer);
    }
  }

  // Complex and decimal numbers. Those of up to 16 bytes travel in vector registers.
  static bool is_floating(const Dwarf_Die& die) {
    Dwarf_Attribute attribute;
    Dwarf_Word encoding = 0;
    return dwarf_attr(const_cast<Dwarf_Die*>(&die), DW_AT_encoding, &attribute) != nullptr &&
           dwarf_formudata(&attribute, &encoding) == 0 && (encoding == DW_ATE_complex_float || encoding == DW_ATE_decimal_float);
  }
  static void add_floating(uint64_t size, uint64_t offset, Passing& to) {
    merge(offset < 8 ? to.low : to.high, size > 16 ? Class::memory : Class::vector);
    if (size == 16 && offset == 0) merge(to.high, Class::vector);
  }

  void add_elements(const dif::TypeDesc& array, uint64_t offset, Passing& to, unsigned depth) {
    const Dwarf_Die* element = behind_names(array.target, table_);
    const uint64_t size = element == nullptr ? 0 : describe(*element, table_).size;
    if (size == 0) return;
    uint64_t end = size;  // of those elements that can lie in registers
    for (const uint64_t count : array.counts) end = std::min<uint64_t>(end * std::min<uint64_t>(count, 16), 16);
    for (uint64_t at = 0; at < end; at += size) add(array.target, offset + at, to, depth + 1);
  }

  DieTable& table_;
  bool is_rust_, may_be_c_;
};

// Hands out registers and places on the stack in the order of the parameters.
class Places {
 public:
  void skip_register() { registers_++; }
  void lose(const char* why) { lost_ = why; }
  bool is_lost() const { return lost_ != nullptr; }

  void place(const Passing& passing, dif::ArgumentDesc& argument) {
    if (lost_ != nullptr) {
      argument.problem = lost_;
    } else if (passing.is_of_c_or_rust || (passing.is_perhaps_in_memory && registers_ + passing.integers() > kRegisters)) {
      argument.problem = kOfCOrRust;
      lose(kOfCOrRust);
    } else if (passing.low == Class::none) {
      argument.problem = passing.is_unknown ? "it is passed in an unknown way" : "its type has no size";
      if (passing.is_unknown) lose("it follows an argument that is passed in an unknown way");
    } else if (!passing.in_memory() && passing.integers() == 0) {
      argument.problem = kInVector;
    } else if (!passing.in_memory() && (passing.is_split || registers_ + passing.integers() <= kRegisters)) {
      argument.is_in_memory = passing.by_address;
      if (passing.is_structure) return add_parts(passing, argument);
      argument.arg = registers_;
      if (!passing.is_integer()) argument.problem = "it is passed in several registers";
      registers_ += passing.integers();
    } else {
      on_stack(passing, argument);
    }
    if (argument.problem.empty() && argument.arg >= kKnownArguments) argument.problem = kBeyond;
  }

 private:
  // The next register, or behind those the next word on the stack.
  unsigned next_word() { return registers_ < kRegisters ? registers_++ : kRegisters + static_cast<unsigned>(stack_++); }
  void add_parts(const Passing& passing, dif::ArgumentDesc& argument) {
    const uint64_t second = std::min(passing.size, passing.second);
    if (passing.low == Class::integer) argument.parts.push_back({0, second, next_word(), 0});
    if (passing.high == Class::integer) argument.parts.push_back({second, passing.size - second, next_word(), 0});
    argument.arg = argument.parts.front().arg;
    if (argument.parts.back().arg >= kKnownArguments) argument.problem = kBeyond;
  }

  void on_stack(const Passing& passing, dif::ArgumentDesc& argument) {
    if (passing.is_wide) stack_ += stack_ % 2;
    argument.arg = kRegisters + static_cast<unsigned>(std::min<uint64_t>(stack_, 1 << 20));
    argument.is_in_memory = passing.by_address;
    stack_ += (passing.size + 7) / 8;
    if (!passing.is_integer() && passing.size > 8)
      argument.problem = "it is a structure that is passed on the stack";
    else if (passing.is_structure)
      argument.parts = {{0, passing.size, argument.arg, 0}};
  }

  unsigned registers_ = 0;
  uint64_t stack_ = 0;          // words
  const char* lost_ = nullptr;  // why the places of further parameters are unknown
};

// Takes DWARF's number of a register that holds one of arg0 to arg5.
std::optional<unsigned> argument_in(unsigned reg) {
  constexpr std::array<unsigned, kRegisters> kNumbers = {5, 4, 1, 2, 8, 9};
  const auto found = std::find(kNumbers.begin(), kNumbers.end(), reg);
  if (found == kNumbers.end()) return std::nullopt;
  return static_cast<unsigned>(found - kNumbers.begin());
}

bool is_vector(unsigned reg) {
  constexpr unsigned kFirst = 17, kLast = 32;
  return reg >= kFirst && reg <= kLast;
}

// True if the parts are those of the calling convention. The places of parts in vector registers, and of missing parts, are
// unknown.
bool correct_parts(const ParameterPlace& place, dif::ArgumentDesc& argument) {
  const dif::ArgumentDesc usual = argument;
  argument.parts.clear();
  argument.is_in_memory = false;
  argument.problem = "";
  for (const ParameterPlace::Piece& part : place.parts)
    if (const auto arg = argument_in(part.reg)) argument.parts.push_back({part.offset, part.size, *arg, 0});
  if (argument.parts.empty()) argument.problem = usual.problem.empty() ? kInVector : usual.problem;
  return std::all_of(argument.parts.begin(), argument.parts.end(), [&](const dif::ArgumentPart& part) {
    return std::any_of(usual.parts.begin(), usual.parts.end(),
                       [&](const dif::ArgumentPart& other) { return part.offset == other.offset && part.arg == other.arg; });
  });
}

// Debug information about a parameter overrides the calling convention, because compilers change functions that are called from
// nowhere else. Returns true if it agrees with the convention.
bool correct(const ParameterPlace& place, const Passing& passing, dif::ArgumentDesc& argument) {
  const dif::ArgumentDesc usual = argument;
  switch (place.kind) {
    case ParameterPlace::Kind::unsaid:
      return true;
    case ParameterPlace::Kind::in_parts:
      return correct_parts(place, argument);
    case ParameterPlace::Kind::nowhere:
      argument.problem = "the compiler has removed this parameter of the function";
      return false;
    case ParameterPlace::Kind::computed:
      argument.problem = "the compiler has removed this parameter: the function computes it from others";
      return false;
    case ParameterPlace::Kind::in_register:
    case ParameterPlace::Kind::at_register:
      break;
  }
  if (is_vector(place.parts[0].reg)) return argument.problem = kInVector, usual.problem == kInVector;
  const std::optional<unsigned> arg = argument_in(place.parts[0].reg);
  argument.is_in_memory = place.kind == ParameterPlace::Kind::at_register;
  argument.arg = arg.value_or(0);
  argument.problem = "";
  argument.parts.clear();
  if (!argument.is_in_memory && (passing.is_structure || !usual.parts.empty()))
    argument.parts = {{0, usual.parts.empty() ? std::min<uint64_t>(passing.size, 8) : usual.parts.front().size, argument.arg, 0}};
  if (!argument.is_in_memory && passing.by_address) argument.problem = "it is unknown whether a register has it or its address";
  if (!arg) argument.problem = "it is passed in a register other than those of arg0 to arg5";
  return arg == usual.arg && argument.is_in_memory == usual.is_in_memory && usual.problem.empty();
}

bool is_in_registers(const ParameterPlace& place) {
  using Kind = ParameterPlace::Kind;
  return place.kind == Kind::in_register || place.kind == Kind::at_register || place.kind == Kind::in_parts;
}

// Parameters and the function that they were found with: of a function of several copies that may be its abstract original, which
// does not say where they lie.
struct Parameters {
  Dwarf_Die function;
  std::vector<Dwarf_Die> list;
};

Parameters parameters_of(Dwarf_Die function) {
  Parameters found{function, parameters_with_code(function)};
  for (unsigned hop = 1; hop < 4 && found.list.empty(); hop++) {
    Dwarf_Attribute attribute;
    Dwarf_Die origin;
    if (dwarf_attr(&found.function, DW_AT_abstract_origin, &attribute) == nullptr &&
        dwarf_attr(&found.function, DW_AT_specification, &attribute) == nullptr)
      break;
    if (dwarf_formref_die(&attribute, &origin) == nullptr) break;
    found = {origin, parameters_with_code(origin)};
  }
  return found;
}

// DWARF does not give the convention of a function of Rust. `extern "C"` functions with a name that Rust mangled are taken for
// Rust's, unless they show that a large structure was on the stack.
Classifier classifier_of(const Dwarf_Die& function, DieTable& table) {
  Dwarf_Die unit;
  const bool is_rust =
      dwarf_diecu(const_cast<Dwarf_Die*>(&function), &unit, nullptr, nullptr) != nullptr && dwarf_srclang(&unit) == DW_LANG_Rust;
  const std::string_view symbol = text_of(function, DW_AT_linkage_name);
  return {table, is_rust, !symbol.starts_with("_ZN") && !symbol.starts_with("_R")};
}

std::vector<dif::ArgumentDesc> entry_arguments(const Dwarf_Die& function, DieTable& table) {
  Classifier classifier = classifier_of(function, table);
  Places places;
  if (const dif::TypeRef result = type_of(function, table)) {
    const Passing passing = classifier.classify(result);
    if (classifier.is_returned_somehow(result)) places.lose("the function returns its result in an unknown way");
    if (passing.in_memory() || passing.by_address) places.skip_register();
  }
  std::vector<dif::ArgumentDesc> list;
  std::vector<bool> is_said;
  bool is_usual = true;
  const Parameters parameters = parameters_of(function);
  for (const Dwarf_Die& parameter : parameters.list) {
    dif::ArgumentDesc& argument = list.emplace_back();
    argument.name = text_of(parameter, DW_AT_name);
    argument.type = type_of(parameter, table);
    const ParameterPlace place = place_at_entry(parameters.function, parameter);
    Passing passing = place.is_through_pointer ? kByAddress : classifier.classify(argument.type);
    passing.is_of_c_or_rust |= place.is_value_in_frame && classifier.is_by_address_in_rust(passing);
    places.place(passing, argument);
    is_said.push_back(place.kind != ParameterPlace::Kind::unsaid);
    const bool is_lost = places.is_lost() && is_in_registers(place);  // nothing is known that this could disagree with
    if (passing.low != Class::none) is_usual &= correct(place, passing, argument) || is_lost;
    if (passing.is_array && !argument.is_in_memory && argument.problem.empty()) argument.problem = kArray;
  }
  for (size_t i = 0; i < list.size() && !is_usual; i++)
    if (!is_said[i]) list[i].problem = "the compiler has changed how the function is called";
  return list;
}

std::vector<dif::ArgumentDesc> return_arguments(const Dwarf_Die& function, DieTable& table) {
  std::vector<dif::ArgumentDesc> list(1);
  list[0].is_word = true;
  dif::ArgumentDesc result;
  result.type = type_of(function, table);
  result.arg = 1;
  if (result.type == 0) return list;
  Classifier classifier = classifier_of(function, table);
  const Passing passing = classifier.classify(result.type);
  result.is_in_memory = passing.in_memory() || passing.by_address;
  if (passing.is_unknown || classifier.is_returned_somehow(result.type))
    result.problem = "it is returned in an unknown way";
  else if (!result.is_in_memory && passing.is_of_c_or_rust)
    result.problem = kOfCOrRust;
  else if (!result.is_in_memory && passing.low == Class::vector)
    result.problem = "it is returned in a vector register, as floating-point values are";
  else if (!result.is_in_memory && !passing.is_integer())
    result.problem = "it is returned in several registers";
  else if (!result.is_in_memory && passing.is_array)
    result.problem = kArray;
  else if (!result.is_in_memory && passing.is_structure)
    result.parts = {{0, passing.size, result.arg, 0}};
  list.push_back(std::move(result));
  return list;
}

}  // namespace

std::vector<dif::ArgumentDesc> arguments_of(const Dwarf_Die& function, bool is_return, DieTable& table) {
  return is_return ? return_arguments(function, table) : entry_arguments(function, table);
}

}  // namespace dvm::runtime
