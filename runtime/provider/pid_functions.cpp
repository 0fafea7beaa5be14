// Chooses functions by name. Covered by tests/unit/instrument/pid_provider_test.cpp.

#include "runtime/provider/pid_functions.h"

#include <algorithm>
#include <array>

#include "runtime/catalog/catalog.h"
#include "runtime/symbol/demangle.h"

namespace dvm::runtime {
namespace {

// They run before and after the program proper; only who names them gets them.
bool is_start_or_end(std::string_view name) {
  constexpr std::array<std::string_view, 6> kNames = {
      "_init", "_fini", "frame_dummy", "register_tm_clones", "deregister_tm_clones", "__do_global_dtors_aux"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

// Its probes have the name of the function that it is a piece of, which would seem to be called twice.
bool is_shown_as_function(std::string_view name) {
  return is_piece_of_function(name) && !demangle_without_arguments(name).empty();
}

}  // namespace

void ChosenFunctions::add(const ElfFunction& function, std::string demangled) {
  auto [place, is_new] = by_name_.try_emplace(function.name, chosen_.size());
  if (is_new) chosen_.push_back({function.name, std::move(demangled), {}});
  chosen_[place->second].places.push_back(&function);
  last_ = &function;
}

bool ChosenFunctions::has_address(uint64_t address) const {
  const auto is_there = [&](const ElfFunction* place) { return place->address == address; };
  return std::any_of(chosen_.begin(), chosen_.end(),
                     [&](const ChosenFunction& one) { return std::any_of(one.places.begin(), one.places.end(), is_there); });
}

ChosenFunctions choose_functions(const ElfObject& elf, std::string_view pattern, std::vector<const ElfFunction*>& indirect) {
  ChosenFunctions chosen;
  const bool glob = is_glob(pattern), names_pieces = is_piece_of_function(pattern);
  for (const ElfFunction& function : elf.functions()) {
    if (glob ? !glob_match(pattern, function.name) || is_start_or_end(function.name) : pattern != function.name) continue;
    if (glob && !names_pieces && is_shown_as_function(function.name)) continue;
    if (function.is_indirect)
      indirect.push_back(&function);
    else if (!glob || !chosen.has_address_of(function))
      chosen.add(function);
  }
  return chosen;
}

ChosenFunctions choose_demangled(const ElfObject& elf, std::string_view pattern) {
  ChosenFunctions chosen;
  const bool with_arguments = pattern.find('(') != std::string_view::npos;
  for (const ElfFunction& function : elf.functions()) {
    if (function.is_indirect || is_piece_of_function(function.name) || chosen.has_address_of(function)) continue;
    for (std::string& name : demangled_names(function.name, with_arguments))
      if (glob_match(pattern, name)) {
        chosen.add(function, std::move(name));
        break;
      }
  }
  return chosen;
}

}  // namespace dvm::runtime
