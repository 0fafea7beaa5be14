// Tested by tests/unit/instrument/text_key_test.cpp.

#include "runtime/instrument/agent/text_key.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "dvm/dif/return_of.h"
#include "dvm/dif/subroutine.h"
#include "dvm/dif/variable.h"
#include "dvm/dif/variable_of.h"
#include "runtime/agent/inside/format.h"

namespace dvm::runtime {
namespace {

using dif::BuiltIn, dif::Instruction, dif::Opcode;

bool is_op(Instruction in, Opcode opcode) { return in.opcode() == opcode; }

std::optional<std::string_view> name_of_probe(unsigned variable, const Probe& probe) {
  if (variable == static_cast<unsigned>(BuiltIn::probeprov)) return probe.provider;
  if (variable == static_cast<unsigned>(BuiltIn::probemod)) return probe.module;
  if (variable == static_cast<unsigned>(BuiltIn::probefunc)) return probe.function;
  if (variable == static_cast<unsigned>(BuiltIn::probename)) return probe.name;
  return {};
}

std::optional<TextKey> text_of_variable(const dif::Difo& difo, Instruction load, uint32_t strsize) {
  const dif::Variable* variable = dif::has_format(load, dif::Format::ldv) ? dif::variable_of(difo, load) : nullptr;
  if (variable == nullptr || !is_thread_text(*variable)) return {};
  return TextKey{.kind = TextKey::Kind::variable, .most = strsize, .number = variable->id - unsigned{dif::kFirstUserVariable}};
}

// Of two instructions: the value is loaded and returned.
std::optional<TextKey> loaded_text(const dif::Difo& difo, const Probe* probe, uint32_t strsize) {
  constexpr uint32_t kLongestName = 15;
  const Instruction load = difo.text[0];
  if (load.rd() != difo.text[1].rd()) return {};
  std::optional<std::string_view> constant;
  if (is_op(load, Opcode::sets) && load.index() < difo.strings.size()) {
    constant = std::string_view(difo.strings.c_str() + load.index());
  } else if (const auto variable = dif::built_in_of(load)) {
    if (*variable == static_cast<unsigned>(BuiltIn::execname))
      return TextKey{.kind = TextKey::Kind::name_of_thread, .most = std::min(strsize, kLongestName)};
    if (probe != nullptr) constant = name_of_probe(*variable, *probe);
  } else {
    return text_of_variable(difo, load, strsize);
  }
  if (!constant) return {};
  return TextKey{.kind = TextKey::Kind::constant, .words = key_words_of(*constant, strsize)};
}

// The instruction that pushes the address, and the length if there is one.
struct Arguments {
  size_t address = 0;
  uint64_t length = UINT64_MAX;
};

// ... | pushtv address | (setx length | pushtv length) | call | ret
std::optional<Arguments> arguments_of(const dif::Difo& difo) {
  const auto& code = difo.text;
  const auto pushes = std::count_if(code.begin(), code.end(), [](Instruction in) { return is_op(in, Opcode::pushtv); });
  const size_t last = code.size() - 3;
  if (!is_op(code[last], Opcode::pushtv)) return {};
  if (pushes == 1) return Arguments{last};
  if (pushes != 2 || last < 2 || !is_op(code[last - 2], Opcode::pushtv) || !is_op(code[last - 1], Opcode::setx)) return {};
  const Instruction length = code[last - 1];
  if (length.rd() != code[last].rd() || length.index() >= difo.integers.size()) return {};
  return Arguments{last - 2, difo.integers[length.index()]};
}

std::optional<TextKey> copied_text(const dif::Difo& difo, uint32_t strsize) {
  const auto& code = difo.text;
  const Instruction call = code[code.size() - 2];
  if (!is_op(call, Opcode::call) || call.index() != static_cast<unsigned>(dif::Subroutine::copyinstr)) return {};
  const auto arguments = arguments_of(difo);
  if (call.rd() != code.back().rd() || call.rd() == 0 || !arguments) return {};
  const uint64_t length = std::min<uint64_t>(arguments->length, strsize);
  const auto leads_behind = [&](Instruction in) { return dif::is_branch(in) && in.label() > arguments->address; };
  if (length < 2 || std::any_of(code.begin(), code.end(), leads_behind)) return {};
  TextKey key{.kind = TextKey::Kind::copied, .most = static_cast<uint32_t>(length - 1)};
  key.address.text.assign(code.begin(), code.begin() + static_cast<ptrdiff_t>(arguments->address));
  key.address.text.push_back(dif::return_of(code[arguments->address].rd()));
  key.address.integers = difo.integers;
  key.address.variables = difo.variables;
  return key;
}

}  // namespace

std::vector<uint64_t> key_words_of(std::string_view text, size_t most) {
  text = text.substr(0, most);
  std::vector<uint64_t> words(text.size() / sizeof(uint64_t) + 1);
  std::memcpy(words.data(), text.data(), text.size());
  return words;
}

bool is_thread_text(const dif::Variable& variable) {
  const bool is_text = variable.kind == dif::VariableKind::scalar && variable.type.kind == dif::TypeKind::string;
  return is_text && variable.scope == dif::Scope::thread && variable.id - dif::kFirstUserVariable < inside::kMostTexts;
}

std::optional<AssignedText> assigned_text(const dif::Difo& difo, const Probe* probe, uint32_t strsize) {
  const size_t size = difo.text.size();
  if (strsize == 0 || strsize > inside::kMostTextBytes || size < 3 || !dif::is_return(difo.text.back()) ||
      difo.text.back().rd() != 0)
    return {};
  const Instruction store = difo.text[size - 2];
  const dif::Variable* variable = dif::stored_variable(difo, store);
  if (variable == nullptr || !is_thread_text(*variable)) return {};
  auto text = evaluated_text(difo, probe, strsize);
  if (!text) return {};
  return AssignedText{*variable, *std::move(text)};
}

std::optional<TextKey> evaluated_text(const dif::Difo& difo, const Probe* probe, uint32_t strsize) {
  const size_t size = difo.text.size();
  if (size < 3 || !dif::has_format(difo.text[size - 2], dif::Format::stv)) return text_key_of(difo, probe, strsize);
  dif::Difo value = difo;
  value.text.resize(size - 2);
  value.text.push_back(dif::return_of(difo.text[size - 2].rd()));
  return text_key_of(value, probe, strsize);
}

std::optional<TextKey> text_key_of(const dif::Difo& difo, const Probe* probe, uint32_t strsize) {
  if (difo.text.size() < 2 || !dif::is_return(difo.text.back())) return {};
  return difo.text.size() == 2 ? loaded_text(difo, probe, strsize) : copied_text(difo, strsize);
}

}  // namespace dvm::runtime
