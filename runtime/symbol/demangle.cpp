// Demangles by libiberty. Covered by tests/unit/instrument/elf_test.cpp.

#include "runtime/symbol/demangle.h"

#include <libiberty/demangle.h>

#include <algorithm>

namespace dvm::runtime {
namespace {

// Position of the parenthesis that opens the last group at the end of the text; npos: there is none.
size_t last_group(std::string_view text) {
  size_t depth = 0;
  for (size_t i = text.rfind(')') + 1; i-- > 0;) {
    if (text[i] == ')') depth++;
    if (text[i] == '(' && --depth == 0) return i;
  }
  return std::string_view::npos;
}

struct TooLong {};

// A name may refer to its own parts, and so mean a text of any length: the demangler is left when it is too long.
void append(const char* part, size_t size, void* to) {
  constexpr size_t kLongest = 1 << 16;
  auto& text = *static_cast<std::string*>(to);
  if (text.size() + size > kLongest) throw TooLong();
  text.append(part, size);
}

// Empty: it is no such name, or means too much. The callback is passed to the demangler, with the address of the text.
template <class Demangle>
std::string demangled(const Demangle& demangle) {
  std::string text;
  try {
    return demangle(append, &text) != 0 ? text : "";
  } catch (const TooLong&) {
    return "";
  }
}

// The older form looks like a C++ name and ends with a hash, which is left off.
std::string demangle_rust(const std::string& name) {
  return demangled([&](auto callback, void* to) { return rust_demangle_callback(name.c_str(), DMGL_NO_OPTS, callback, to); });
}

std::string demangle_cplusplus(const std::string& name, int options) {
  return demangled([&](auto callback, void* to) { return cplus_demangle_v3_callback(name.c_str(), options, callback, to); });
}

}  // namespace

bool is_piece_of_function(std::string_view symbol) {
  return symbol.find(".cold") != std::string_view::npos || symbol.find(".part.") != std::string_view::npos;
}

std::string demangle_without_arguments(std::string_view name) {
  constexpr size_t kLongest = 4096;  // a made-up name could keep the demangler busy
  if ((!name.starts_with("_Z") && !name.starts_with("_R")) || name.size() > kLongest) return "";
  const std::string mangled(name);
  if (std::string rust = demangle_rust(mangled); !rust.empty()) return rust;
  const std::string whole = demangle_cplusplus(mangled, DMGL_PARAMS | DMGL_TYPES);
  return whole.substr(0, last_group(whole));
}

std::vector<std::string> demangled_names(std::string_view name, bool with_arguments) {
  std::vector<std::string> names{demangle_without_arguments(name)};
  if (names.front().empty()) return {};
  const std::string mangled(name);
  const auto add = [&](std::string other) {
    if (!other.empty() && std::find(names.begin(), names.end(), other) == names.end()) names.push_back(std::move(other));
  };
  if (!name.starts_with("_Z")) return names;
  if (names.front().find('<') != std::string::npos) add(demangle_cplusplus(mangled, DMGL_RET_DROP));
  if (with_arguments) add(demangle_cplusplus(mangled, DMGL_PARAMS | DMGL_ANSI | DMGL_RET_DROP));
  return names;
}

}  // namespace dvm::runtime
