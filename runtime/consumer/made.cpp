// Stacks and symbols as text. Tested by tests/unit/runtime/made_test.cpp.

#include "runtime/consumer/made.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "common/kernel_address.h"
#include "common/printable.h"
#include "runtime/consumer/keys.h"

namespace dvm::runtime {
namespace {

uint64_t word(std::span<const std::byte> words, size_t index) {
  uint64_t value = 0;
  if ((index + 1) * sizeof(value) <= words.size()) std::memcpy(&value, words.data() + index * sizeof(value), sizeof(value));
  return value;
}

bool is_module(dif::Action maker) { return maker == dif::Action::umod || maker == dif::Action::mod; }

}  // namespace

UserAddress place_of(const Datum& datum) { return {static_cast<int32_t>(word(datum.bytes, 0)), word(datum.bytes, 1)}; }

std::vector<UserAddress> frames_of(const Datum& datum) {
  std::vector<UserAddress> frames;
  const auto pid = static_cast<int32_t>(word(datum.bytes, 0));
  for (size_t i = 1; word(datum.bytes, i) != 0; i++) frames.push_back({pid, word(datum.bytes, i)});
  return frames;
}

std::optional<UserSymbol> MadePrinter::find(const UserAddress& place) const {
  return resolves_ ? symbols_.find(place.pid, place.address) : std::nullopt;
}

// A caller's address is that behind the call.
std::vector<SourcePlace> MadePrinter::source_of(const UserAddress& frame, bool is_caller) const {
  if (!resolves_ || !shows_source_ || frame.pid == kKernelPid || frame.address == 0) return {};
  return symbols_.places(frame.pid, frame.address - (is_caller ? 1 : 0));
}

// module`function+0x12, module`0x1234 or 0x1234.
std::string MadePrinter::address_text(const UserAddress& place) const {
  const auto symbol = find(place);
  if (!symbol) return fmt::format("0x{:x}", place.address);
  const std::string module = printable(symbol->module), function = printable(symbol->function);
  if (function.empty()) return fmt::format("{}`0x{:x}", module, place.address);
  if (symbol->address == place.address) return fmt::format("{}`{}", module, function);
  return fmt::format("{}`{}+0x{:x}", module, function, place.address - symbol->address);
}

std::string MadePrinter::kernel_text(uint64_t address) const { return address_text({kKernelPid, with_top_bit(address)}); }

std::string MadePrinter::target_function(uint64_t address) const {
  const auto symbol = find({target_, address});
  return symbol && !symbol->function.empty() ? target_text(address) : std::string();
}

void MadePrinter::append_stack(std::string& out, const Datum& datum, int indent) const {
  out += '\n';
  for (const UserAddress& frame : frames_of(datum)) {
    out.append(static_cast<size_t>(std::max(indent, 0)), ' ');
    out += address_text(frame) + '\n';
  }
}

std::string MadePrinter::symbol_text(const Datum& datum) const {
  UserAddress place = place_of(datum);
  const auto symbol = find(place);
  if (is_module(datum.made_by)) return symbol ? printable(symbol->module) : fmt::format("0x{:x}", place.address);
  if (datum.made_by != dif::Action::uaddr && symbol && !symbol->function.empty()) place.address = symbol->address;
  return address_text(place);
}

void MadePrinter::unify(const dif::AggregationDesc& desc, std::string& key) const {
  const bool has_symbol = std::any_of(desc.key_makers.begin(), desc.key_makers.end(), dif::is_symbol);
  if (!has_symbol) return;
  for (const Datum& datum : keys_of(desc, key)) {
    if (!dif::is_symbol(datum.made_by) || datum.made_by == dif::Action::uaddr) continue;
    const auto symbol = find(place_of(datum));
    const auto at = static_cast<size_t>(reinterpret_cast<const char*>(datum.bytes.data()) - key.data());
    if (symbol) std::memcpy(key.data() + at + 8, is_module(datum.made_by) ? &symbol->module_address : &symbol->address, 8);
  }
}

void MadePrinter::append(std::string& out, const Datum& datum, int indent) const {
  if (dif::is_stack(datum.made_by)) return append_stack(out, datum, indent);
  runtime::append(out, "  %-50s", symbol_text(datum).c_str());
}

}  // namespace dvm::runtime
