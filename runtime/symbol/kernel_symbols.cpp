// Tested by tests/unit/instrument/kernel_symbols_test.cpp.
#include "runtime/symbol/kernel_symbols.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <tuple>

namespace dvm::runtime {
namespace {

std::string text_of_file(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Takes a word off the front of a line; words are parted by blanks or tabs.
std::string_view take_word(std::string_view& line) {
  const size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
  const size_t end = std::min(line.find_first_of(" \t", begin), line.size());
  const std::string_view word = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return word;
}

std::string_view take_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

uint64_t hexadecimal(std::string_view text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return error == std::errc() && end == text.data() + text.size() ? value : 0;
}

constexpr std::string_view kProgram = "vmlinux";

}  // namespace

const KernelSymbols& KernelSymbols::of_this_kernel() {
  static const KernelSymbols symbols(text_of_file("/proc/kallsyms"), text_of_file("/proc/modules"));
  return symbols;
}

KernelSymbols::KernelSymbols(std::string kallsyms, std::string_view modules) : text_(std::move(kallsyms)) {
  modules_.push_back({kProgram, {}});
  for (std::string_view rest = text_; !rest.empty();) parse_line(take_line(rest));
  sort();
  for (const AddressedName& symbol : symbols_) {
    AddressRange& range = modules_[symbol.module].range;
    if (range.begin == 0) range.begin = symbol.address;
    range.end = symbol.address + 1;
  }
  limit_modules(modules);
}

// "ffffffff81000000 T _stext", and a tab and "[module]" behind it.
void KernelSymbols::parse_line(std::string_view line) {
  const uint64_t address = hexadecimal(take_word(line));
  const std::string_view type = take_word(line), name = take_word(line);
  std::string_view module = take_word(line);
  if (address >> 63 == 0 || type.size() != 1 || name.empty()) return;
  AddressedName symbol{address, name, 0, type.front()};
  if (module.size() > 2) {
    module = module.substr(1, module.size() - 2);
    if (modules_.back().name != module) modules_.push_back({module, {}});
    symbol.module = static_cast<uint32_t>(modules_.size() - 1);
  }
  symbols_.push_back(symbol);
}

// The best name of an address comes first and is kept: a global function, with the fewest underscores.
void KernelSymbols::sort() {
  constexpr std::string_view kBestTypes = "TtWwDdBbRr";
  const auto rank = [&](const AddressedName& symbol) {
    return std::tuple(symbol.address, std::min(kBestTypes.find(symbol.type), kBestTypes.size()),
                      std::min(symbol.name.find_first_not_of('_'), symbol.name.size()), symbol.name.size(), symbol.name);
  };
  std::sort(symbols_.begin(), symbols_.end(), [&](const AddressedName& a, const AddressedName& b) { return rank(a) < rank(b); });
  const auto same = [](const AddressedName& a, const AddressedName& b) { return a.address == b.address; };
  symbols_.erase(std::unique(symbols_.begin(), symbols_.end(), same), symbols_.end());
}

// "NAME SIZE USES USERS STATE 0xADDRESS": the module reaches so far.
void KernelSymbols::limit_modules(std::string_view modules) {
  while (!modules.empty()) {
    std::string_view line = take_line(modules);
    const std::string_view name = take_word(line), size = take_word(line);
    for (int skipped = 0; skipped < 3; skipped++) take_word(line);
    const uint64_t address = hexadecimal(take_word(line));
    uint64_t bytes = 0;
    std::from_chars(size.data(), size.data() + size.size(), bytes);
    for (Module& module : modules_)
      if (module.name == name && address != 0) module.range = {std::min(address, module.range.begin), address + bytes};
  }
}

std::optional<KernelSymbol> KernelSymbols::find(uint64_t address) const {
  const auto after = std::upper_bound(symbols_.begin(), symbols_.end(), address,
                                      [](uint64_t at, const AddressedName& one) { return at < one.address; });
  if (after == symbols_.begin()) return std::nullopt;
  const AddressedName& symbol = *std::prev(after);
  const Module& module = modules_[symbol.module];
  if (address != symbol.address && address >= module.range.end) return std::nullopt;
  return KernelSymbol{module.name, symbol.name, symbol.address, module.range.begin};
}

std::vector<AddressRange> KernelSymbols::functions_beginning(std::span<const std::string_view> words) const {
  std::vector<AddressRange> ranges;
  for (size_t i = 0; i < symbols_.size(); i++) {
    const auto begins = [&](std::string_view word) { return symbols_[i].name.starts_with(word); };
    if (std::none_of(words.begin(), words.end(), begins)) continue;
    ranges.push_back({symbols_[i].address, i + 1 < symbols_.size() ? symbols_[i + 1].address : UINT64_MAX});
  }
  return ranges;
}

}  // namespace dvm::runtime
