// Covered by tests/unit/instrument/stapsdt_test.cpp and tests/runtime/scenarios/test_header.py.

#include "runtime/symbol/declared_providers.h"

#include <fmt/format.h>
#include <gelf.h>

#include <algorithm>

#include "runtime/symbol/open_elf.h"

namespace dvm::runtime {
namespace {

constexpr size_t kLongestDeclaration = 1 << 16;
constexpr size_t kMostDeclarations = 16;  // different ones of one provider

std::string_view provider_section(Elf* elf) {
  Elf_Scn* section = find_section(elf, kProviderSection);
  Elf_Data* data = section == nullptr ? nullptr : elf_getdata(section, nullptr);
  if (data == nullptr || data->d_buf == nullptr) return {};
  return {static_cast<const char*>(data->d_buf), data->d_size};
}

}  // namespace

std::vector<std::string> read_declared_providers(const std::string& path, std::string_view provider) {
  std::vector<std::string> found;
  OpenElf file(path);
  if (file.get() == nullptr || elf_kind(file.get()) != ELF_K_ELF) return found;
  const std::string begin = fmt::format("provider {} {{", provider);
  std::string_view content = provider_section(file.get());
  while (!content.empty() && found.size() < kMostDeclarations) {
    const std::string_view text = content.substr(0, content.find('\0'));
    const bool is_new = std::find(found.begin(), found.end(), text) == found.end();
    if (is_new && text.size() <= kLongestDeclaration && text.starts_with(begin)) found.emplace_back(text);
    content.remove_prefix(std::min(content.size(), text.size() + 1));
  }
  return found;
}

}  // namespace dvm::runtime
