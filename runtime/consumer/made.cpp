// Stacks and symbols as text. Tested by tests/unit/runtime/made_test.cpp.

#include "runtime/consumer/made.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "runtime/consumer/aggregation.h"

namespace dvm::runtime {
namespace {

uint64_t word(std::span<const std::byte> words, size_t index) {
  uint64_t value = 0;
  if ((index + 1) * sizeof(value) <= words.size()) std::memcpy(&value, words.data() + index * sizeof(value), sizeof(value));
  return value;
}

}  // namespace

std::optional<UserSymbol> MadePrinter::find(int32_t pid, uint64_t address) const {
  return resolves_ ? symbols_.find(pid, address) : std::nullopt;
}

// module`function+0x12, module`0x1234 or 0x1234.
std::string MadePrinter::address_text(int32_t pid, uint64_t address) const {
  const auto symbol = find(pid, address);
  if (!symbol) return fmt::format("0x{:x}", address);
  if (symbol->function.empty()) return fmt::format("{}`0x{:x}", symbol->module, address);
  if (symbol->address == address) return fmt::format("{}`{}", symbol->module, symbol->function);
  return fmt::format("{}`{}+0x{:x}", symbol->module, symbol->function, address - symbol->address);
}

void MadePrinter::append_stack(std::string& out, std::span<const std::byte> words, int indent) const {
  out += '\n';
  const auto pid = static_cast<int32_t>(word(words, 0));
  for (size_t i = 1; word(words, i) != 0; i++) {
    out.append(static_cast<size_t>(std::max(indent, 0)), ' ');
    out += address_text(pid, word(words, i)) + '\n';
  }
}

std::string MadePrinter::symbol_text(const Datum& datum) const {
  const auto pid = static_cast<int32_t>(word(datum.bytes, 0));
  const uint64_t address = word(datum.bytes, 1);
  const auto symbol = find(pid, address);
  if (datum.made_by == dif::Action::umod) return symbol ? symbol->module : fmt::format("0x{:x}", address);
  const bool is_whole = datum.made_by == dif::Action::usym || datum.made_by == dif::Action::ufunc;
  return address_text(pid, is_whole && symbol && !symbol->function.empty() ? symbol->address : address);
}

void MadePrinter::unify(const dif::AggregationDesc& desc, std::string& key) const {
  const bool has_symbol = std::any_of(desc.key_makers.begin(), desc.key_makers.end(), dif::is_user_symbol);
  if (!has_symbol) return;
  for (const Datum& datum : keys_of(desc, key)) {
    if (!dif::is_user_symbol(datum.made_by) || datum.made_by == dif::Action::uaddr) continue;
    const auto symbol = find(static_cast<int32_t>(word(datum.bytes, 0)), word(datum.bytes, 1));
    const auto at = static_cast<size_t>(reinterpret_cast<const char*>(datum.bytes.data()) - key.data());
    if (symbol)
      std::memcpy(key.data() + at + 8, datum.made_by == dif::Action::umod ? &symbol->module_address : &symbol->address, 8);
  }
}

void MadePrinter::append(std::string& out, const Datum& datum, int indent) const {
  if (dif::is_stack(datum.made_by)) return append_stack(out, datum.bytes, indent);
  runtime::append(out, "  %-50s", symbol_text(datum).c_str());
}

}  // namespace dvm::runtime
